import { Dexie } from 'dexie';
import { loadCairn, loadedParts } from '../../page/cairn-build.mjs';
import { GROUP_SIZE, makeParts } from '../../page/documents.mjs';
import { measure } from '../../page/measure.mjs';
import { checkClient, fill, LIBRARY, makeClient, openClient, openPeople } from '../page/cairn.mjs';
import { defineWorkload } from '../workload.mjs';

const INDEXES = ['group'];
/** The first visit asks for it, so its documents are in the warm set. */
const ASKED = 1;
/** No visit lives long enough to note it. */
const OTHER = 2;

/**
 * A first read, and whether it has found what it should.
 *
 * @typedef {object} FirstRead
 * @property {(people: any, id: string) => Promise<any>} read
 * @property {(found: any) => boolean} check
 */

/** @param {number} group @returns {FirstRead} */
const ofGroup = (group) => ({
  read: (people) => people.filter({ group }),
  check: ({ length }) => length === GROUP_SIZE,
});

/** @type {FirstRead} */
const OF_ID = {
  read: (people, id) => people.get(id),
  check: (found) => found !== undefined,
};

/** Longer than a collection rests before it writes its checkpoint, and than writing it takes. */
const restOf = (/** @type {number} */ size) => Math.max(4000, size / 25);

/** @param {string} name */
function openDexie(name) {
  const database = new Dexie(name);
  database.version(1).stores({ people: '++id, group' });
  return database;
}

/** @param {string} name @param {number} size */
async function fillDexie(name, size) {
  const database = openDexie(name);
  for (const documents of makeParts(size)) await database.table('people').bulkAdd(documents);
  database.close();
}

/**
 * @param {import('../page/cairn.mjs').ClientName} client @param {string} name @param {number} size
 */
async function fillCairn(client, name, size) {
  const database = await openClient(client, name);
  const people = openPeople(database, { indexes: INDEXES });
  const ids = await fill(people, size);
  await people.filter({ group: ASKED });
  // A collection that rests writes its checkpoint.
  await new Promise((resolve) => setTimeout(resolve, restOf(size)));
  await database.close();
  return ids[size >> 1] ?? '';
}

/**
 * The code that an app loads which opens a database and reads, in a frame: this page has loaded
 * more, and what is loaded in vain takes memory and time of those visits that are measured.
 *
 * @param {import('../page/cairn.mjs').ClientName} client
 * @param {{ cairn: string, files: string, ids: { cairn: string, files: string } }} filled
 * @returns {Promise<string[]>}
 */
async function partsOf(client, filled) {
  const frame = document.createElement('iframe');
  frame.src = location.href;
  const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
  document.body.append(frame);
  await loaded;
  const window = /** @type {any} */ (frame.contentWindow);
  const { default: workload } = await window.eval(`import(${JSON.stringify(import.meta.url)})`);
  const prepared = { ...filled, parts: { [client]: [] } };
  for (const read of [client, `${client}, get`]) await workload.contenders[read]({ prepared });
  const parts = loadedParts({ url: LIBRARY }, window);
  frame.remove();
  return parts;
}

/** @param {FirstRead} first @param {any} found */
function checkFound({ check }, found) {
  if (!check(found)) throw new Error('The first read has found something else.');
}

/**
 * @param {(people: import('dexie').Table, size: number) => Promise<any>} read
 * @param {FirstRead} first what it must find
 * @returns {import('../workload.mjs').Contender}
 */
const openThroughDexie =
  (read, first) =>
  async ({ prepared: { dexie: name }, size }) => {
    const { ms, result } = await measure(async () => {
      const database = openDexie(name);
      return { database, found: await read(database.table('people'), size) };
    });
    checkFound(first, result.found);
    result.database.close();
    return { ms };
  };

/**
 * As an app after a reload: the code is loaded and has not run; it opens and queries at once.
 *
 * @param {import('../page/cairn.mjs').ClientName} client
 * @param {boolean} caching
 * @param {FirstRead} first
 * @returns {import('../workload.mjs').Contender}
 */
const openThrough =
  (client, caching, first = ofGroup(ASKED)) =>
  async ({ prepared: { cairn, files, parts, ids } }) => {
    const [name, id] = client === 'files' ? [files, ids.files] : [cairn, ids.cairn];
    const library = await loadCairn({ url: LIBRARY, parts: parts[client] });
    const { ms, result } = await measure(async () => {
      const database = makeClient(library, client, name);
      const people = openPeople(database, { caching, indexes: INDEXES });
      return { database, found: await first.read(people, id) };
    });
    checkClient(client, result.database);
    checkFound(first, result.found);
    await result.database.close();
    return { ms };
  };

/** Times Dexie, at most. */
const AT_MOST = /** @type {const} */ ({ thread: 4, worker: 8, files: 5 });
const CLIENTS = /** @type {const} */ (['thread', 'worker', 'files']);

export default defineWorkload({
  name: 'open-indexed',
  title: 'a fresh page, from opening to the first indexed result of 200, or document by its id',
  sizes: [10_000, 100_000],
  smokeSizes: [1_000],
  freshPage: true,
  async prepare({ database, size }) {
    const names = { cairn: database, dexie: `${database}-dexie`, files: `${database}-files` };
    const files = await fillCairn('files', names.files, size);
    const cairn = await fillCairn('thread', names.cairn, size);
    await fillDexie(names.dexie, size);
    const filled = { ...names, ids: { cairn, files } };
    const parts = {
      thread: await partsOf('thread', filled),
      worker: await partsOf('worker', filled),
      files: await partsOf('files', filled),
    };
    return { ...filled, parts };
  },
  contenders: {
    dexie: openThroughDexie(
      (people) => people.where('group').equals(ASKED).toArray(),
      ofGroup(ASKED),
    ),
    'dexie, get': openThroughDexie((people, size) => people.get(size >> 1), OF_ID),
    thread: openThrough('thread', false),
    worker: openThrough('worker', false),
    files: openThrough('files', false),
    'thread, cached': openThrough('thread', true),
    'worker, cached': openThrough('worker', true),
    'thread, first time': openThrough('thread', false, ofGroup(OTHER)),
    'worker, first time': openThrough('worker', false, ofGroup(OTHER)),
    'files, first time': openThrough('files', false, ofGroup(OTHER)),
    'thread, get': openThrough('thread', false, OF_ID),
    'worker, get': openThrough('worker', false, OF_ID),
    'files, get': openThrough('files', false, OF_ID),
  },
  limits: CLIENTS.flatMap((client) => [
    ...['', ', first time'].map((read) => ({
      figure: `${client}${read}: ms`,
      per: 'dexie: ms',
      atMost: AT_MOST[client],
    })),
    { figure: `${client}, get: ms`, per: 'dexie, get: ms', atMost: AT_MOST[client] },
    ...['', ', get'].map((read) => ({
      figure: `${client}${read}: ms`,
      compare: /** @type {const} */ ('acrossSizes'),
      atMost: 1.6,
    })),
  ]),
});
