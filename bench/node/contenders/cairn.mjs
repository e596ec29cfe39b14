import { pathToFileURL } from 'node:url';
import { withKey } from '../../page/people.mjs';
import { openSqlite } from './sqlite.mjs';

/** @typedef {import('../contender.mjs').Level} Level */
/** @typedef {(file: string) => Promise<any>} Load a file of dist */
/** @typedef {{ storage: object, end?: () => void }} Opened */

/**
 * @param {string} name
 * @param {boolean} caching
 * @param {string} where
 * @param {(directory: string, level: Level, load: Load) => Promise<Opened>} openStorage
 * @returns {import('../contender.mjs').Contender}
 */
const cairnWith = (name, caching, where, openStorage) => ({
  name,
  usage: `${where}, caching: ${caching}, save() after each insert; synced: durability 'strict'`,
  levels: ['written', 'synced'],
  async open(directory, level, dist) {
    const load = (/** @type {string} */ file) => import(pathToFileURL(`${dist}/${file}`).href);
    const [{ Database }, { storage, end }] = await Promise.all([
      load('index.js'),
      openStorage(directory, level, load),
    ]);
    const durability = level === 'synced' ? 'strict' : 'relaxed';
    const db = new Database({ name: 'people', durability, storage });
    const options = { name: 'people', type: 'DOCUMENT_BASED', caching, indexes: ['group'] };
    const people = new db.Collection({ ...options, save_timeout: 3600 });
    return {
      async insertMany(all) {
        await people.insertMany(withKey(all, '_id'));
        await db.save();
      },
      async insert(person) {
        await people.insert(withKey([person], '_id')[0]);
        await db.save();
      },
      findGroup: (group) => people.filter({ group }),
      all: () => people.filter({}),
      async close() {
        await db.close();
        end?.();
      },
    };
  },
});

/** @type {Parameters<typeof cairnWith>[3]} */
const inFiles = async (directory, _, load) => ({
  storage: (await load('node.js')).files(directory),
});

/** @type {Parameters<typeof cairnWith>[3]} */
async function inSqlite(directory, level, load) {
  const [{ sqlite }, file] = await Promise.all([
    load('sqlite.js'),
    openSqlite(`${directory}/cairn.db`, level),
  ]);
  /** @typedef {readonly unknown[]} Params */
  const run = (/** @type {string} */ sql, /** @type {Params} */ params) =>
    file.prepare(sql).run(...params);
  const driver = {
    run,
    all: (/** @type {string} */ sql, /** @type {Params} */ params) =>
      file.prepare(sql).all(...params),
    transaction: file.transaction((/** @type {{ sql: string, params: Params }[]} */ all) => {
      for (const { sql, params } of all) run(sql, params);
    }),
  };
  return { storage: sqlite(driver), end: () => file.close() };
}

export const cairn = cairnWith('cairn', false, 'files()', inFiles);
export const cairnCached = cairnWith('cairn-cached', true, 'files()', inFiles);
/** As {@link cairn}, over better-sqlite3. */
export const cairnSqlite = cairnWith('cairn-sqlite', false, 'sqlite()', inSqlite);
