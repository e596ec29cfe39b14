import { makeParts, randomNumbers } from '../../page/documents.mjs';
import { deletePlain } from './plain-indexeddb.mjs';

/** @typedef {string | { fields: string, collation: string }} Index */

/**
 * @typedef {import('../../page/documents.mjs').Person} Person
 * @typedef {import('../../../src/index.ts').DatabaseClient} DatabaseClient
 * @typedef {import('../../../src/index.ts').DocumentCollection<Person>} People
 * @typedef {'thread' | 'worker' | 'files'} ClientName `files`: a worker with `storage: 'opfs'`
 */

/** @type {string} what users get, and not the source */
export const LIBRARY = '/dist/cairndb.js';

/**
 * Loads the library, as the bundle of an app would. @returns {Promise<typeof
 * import('../../../src/index.ts')>}
 */
export const library = () => import(LIBRARY);

/** @param {ClientName} client @param {string} name */
export async function openClient(client, name) {
  const database = makeClient(await library(), client, name);
  await database.ready;
  checkClient(client, database);
  return database;
}

/**
 * @param {Pick<typeof import('../../../src/index.ts'), 'connect' | 'Database'>} library
 * @param {ClientName} client
 * @param {string} name
 * @returns {DatabaseClient}
 */
export function makeClient({ connect, Database }, client, name) {
  if (client === 'thread') return new Database({ name });
  return connect(client === 'files' ? { name, storage: 'opfs' } : { name });
}

/** @param {ClientName} client @param {DatabaseClient} database */
export function checkClient(client, database) {
  const { engine, storage, storage_reason: why } = database.status;
  const [place, kind] = client === 'files' ? ['worker', 'opfs'] : [client, 'indexeddb'];
  if (engine !== place || storage !== kind) {
    throw new Error(
      `The engine runs in the ${engine} on ${storage}, but this benchmark measures ${place} on ${kind}. ${why ?? ''}`,
    );
  }
}

/**
 * @param {DatabaseClient} database
 * @param {{ name?: string, caching?: boolean, indexes?: Index[] }} [options]
 * @returns {People}
 */
export function openPeople(database, { name = 'people', caching = false, indexes = [] } = {}) {
  return new database.Collection({ name, type: 'DOCUMENT_BASED', caching, indexes });
}

/** @param {People} people @param {number} size */
export async function fill(people, size) {
  const ids = [];
  for (const documents of makeParts(size)) {
    for (const { _id } of await people.insertMany(documents)) ids.push(_id);
  }
  await people.save();
  return ids;
}

/**
 * A collection of this size in memory.
 *
 * @param {ClientName} client
 * @param {string} name
 * @param {{ size: number, indexes?: Index[] }} options
 */
export async function openFilled(client, name, { size, indexes = [] }) {
  const database = await openClient(client, name);
  const people = openPeople(database, { caching: true, indexes });
  await fill(people, size);
  await people.ready;
  return { database, people };
}

/**
 * A ready database: worker started, code warmed up with another collection.
 *
 * @param {ClientName} client
 * @param {string} name
 */
export async function openWarm(client, name) {
  const database = await openClient(client, name);
  await fill(openPeople(database, { name: 'warm-up' }), 2_000);
  return database;
}

/** @param {DatabaseClient} database */
export async function remove(database) {
  await database.close();
  await deletePlain(nameInIndexedDb(database.name));
}

/** @param {string} name */
export const nameInIndexedDb = (name) => `cairn:${name}`;

/** @param {People} people @param {readonly string[]} ids */
export async function getAtOnce(people, ids) {
  const found = await Promise.all(ids.map((id) => people.get(id)));
  if (found.some((document) => document === undefined)) throw new Error('A document is missing.');
}

/** Distinct random ids, deterministic. @param {readonly string[]} ids @param {number} count */
export function scatter(ids, count) {
  const random = randomNumbers(3);
  /** @type {Set<string>} */
  const drawn = new Set();
  while (drawn.size < Math.min(count, ids.length)) {
    drawn.add(/** @type {string} */ (ids[Math.floor(random() * ids.length)]));
  }
  return [...drawn];
}
