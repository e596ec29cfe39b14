import { cairn, cairnCached } from './cairn.mjs';
import { lmdb } from './lmdb.mjs';
import { nedb } from './nedb.mjs';
import { sqlite } from './sqlite.mjs';

/** The first is what the others are compared with. */
export const contenders = [cairn, cairnCached, nedb, lmdb, sqlite];
