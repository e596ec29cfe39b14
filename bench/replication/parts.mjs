import { firstPull } from './first-pull.mjs';
import { manyClients } from './many-clients.mjs';
import { offlinePush } from './offline-push.mjs';
import { photos } from './photos.mjs';
import { rowGrowth } from './row-growth.mjs';
import { sealedContent } from './sealed.mjs';

export const parts = [firstPull, offlinePush, manyClients, rowGrowth, photos, sealedContent];
