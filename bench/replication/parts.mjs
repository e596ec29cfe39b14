import { firstPull } from './first-pull.mjs';
import { offlinePush } from './offline-push.mjs';
import { rowGrowth } from './row-growth.mjs';

export const parts = [firstPull, offlinePush, rowGrowth];
