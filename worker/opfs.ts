/** The code of `storage: 'opfs'`, which a worker of `connect()` loads when it is requested. */
import { type OpfsModule, openTranslated } from '../src/storage/opfs/own-errors.ts';

export const openOpfs: OpfsModule['openOpfs'] = openTranslated;
