import { cairn, cairnCached, cairnSqlite } from './cairn.mjs';
import { lmdb } from './lmdb.mjs';
import { nedb } from './nedb.mjs';
import { sqlite } from './sqlite.mjs';

/** The first is what the others are compared with. */
export const contenders = [cairn, cairnCached, cairnSqlite, nedb, lmdb, sqlite];

/** Those that need better-sqlite3. */
export const overSqlite = [cairnSqlite, sqlite];
