import { pathToFileURL } from 'node:url';
import { withKey } from '../../page/people.mjs';

/** @param {string} name @param {boolean} caching @returns {import('../contender.mjs').Contender} */
const cairnWith = (name, caching) => ({
  name,
  usage: `files(), caching: ${caching}, save() after each insert; synced: durability 'strict'`,
  levels: ['written', 'synced'],
  async open(directory, level, dist) {
    const load = (/** @type {string} */ file) => import(pathToFileURL(`${dist}/${file}`).href);
    const [{ Database }, { files }] = await Promise.all([load('index.js'), load('node.js')]);
    const durability = level === 'synced' ? 'strict' : 'relaxed';
    const db = new Database({ name: 'people', durability, storage: files(directory) });
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
      close: () => db.close(),
    };
  },
});

export const cairn = cairnWith('cairn', false);
export const cairnCached = cairnWith('cairn-cached', true);
