import { measure, time } from '../../page/measure.mjs';
import { fill, nameInIndexedDb, openClient, openPeople } from '../page/cairn.mjs';
import { answer, openPlain } from '../page/plain-indexeddb.mjs';
import { defineWorkload } from '../workload.mjs';

/**
 * @typedef {import('../page/cairn.mjs').ClientName} ClientName
 * @typedef {import('../page/cairn.mjs').People} People
 */

/** Everything stored for a collection, each store in one request. @param {string} name */
async function readRaw(name) {
  const database = await openPlain(nameInIndexedDb(name));
  const transaction = database.transaction(['segments', 'bodies']);
  const stored = await Promise.all(
    ['segments', 'bodies'].map((store) => answer(transaction.objectStore(store).getAll())),
  );
  database.close();
  return /** @type {{ bodies?: string[] }[]} */ (stored.flat());
}

/** @param {string} name */
async function readAndParseRaw(name) {
  const values = [];
  for (const { bodies = [] } of await readRaw(name)) {
    for (const body of bodies) values.push(JSON.parse(body));
  }
  return values;
}

/**
 * Opens the collection and calls it.
 *
 * @param {ClientName} client
 * @param {string} name
 * @param {(people: People) => Promise<unknown>} ask
 */
async function openAndAsk(client, name, ask) {
  const { ms, result } = await measure(async () => {
    const { ms: start, result: database } = await time(() => openClient(client, name));
    await ask(openPeople(database, { caching: true }));
    return { start, database };
  });
  await result.database.close();
  return { 'ms in all': ms, 'ms to start': result.start, 'ms to open': ms - result.start };
}

/**
 * @param {ClientName} client
 * @param {(people: People, id: string) => Promise<unknown>} ask
 * @returns {import('../workload.mjs').Contender}
 */
const openThrough =
  (client, ask) =>
  async ({ prepared: { big, small, bigId, smallId } }) => {
    await openAndAsk(client, small, (people) => ask(people, smallId));
    return openAndAsk(client, big, (people) => ask(people, bigId));
  };

/**
 * @param {(name: string) => Promise<unknown[]>} read @returns {import('../workload.mjs').Contender}
 */
const readWith =
  (read) =>
  async ({ prepared: { big, small } }) => {
    await read(small);
    const { ms } = await measure(() => read(big));
    return { ms };
  };

/** @param {People} people @param {string} id */
const firstGet = async (people, id) => {
  if (!(await people.get(id))) throw new Error('A document is missing.');
};

/** @param {People} people */
const firstScan = async (people) => {
  if ((await people.filter({ age: 33 })).length === 0) throw new Error('Documents are missing.');
};

/** @param {string} name @param {number} size */
async function save(name, size) {
  const database = await openClient('thread', name);
  const ids = await fill(openPeople(database), size);
  await database.close();
  return ids[size >> 1];
}

export default defineWorkload({
  name: 'open-cached',
  title: 'a collection with caching: true, from reload to the first result',
  sizes: [100_000],
  smokeSizes: [1_000],
  freshPage: true,
  async prepare({ database: big, size }) {
    const small = `${big}-small`;
    return { big, small, bigId: await save(big, size), smallId: await save(small, 2_000) };
  },
  contenders: {
    'raw read': readWith(readRaw),
    'get, thread': openThrough('thread', firstGet),
    'get, worker': openThrough('worker', firstGet),
    'raw read and parse': readWith(readAndParseRaw),
    'scan, thread': openThrough('thread', firstScan),
    'scan, worker': openThrough('worker', firstScan),
  },
  limits: [
    { figure: 'get, thread: ms in all', per: 'raw read: ms', atMost: 1.5 },
    { figure: 'get, worker: ms in all', per: 'raw read: ms', atMost: 1.5 },
    { figure: 'get, worker: ms to open', per: 'raw read: ms' },
    { figure: 'scan, thread: ms in all', per: 'raw read and parse: ms', atMost: 1.3 },
    { figure: 'scan, worker: ms in all', per: 'raw read and parse: ms', atMost: 1.3 },
    { figure: 'scan, worker: ms to open', per: 'raw read and parse: ms' },
  ],
});
