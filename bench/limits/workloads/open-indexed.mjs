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

/** @param {import('../page/cairn.mjs').ClientName} client @param {string} name @param {number} size */
async function fillCairn(client, name, size) {
  const database = await openClient(client, name);
  const people = openPeople(database, { indexes: INDEXES });
  await fill(people, size);
  await people.filter({ group: ASKED });
  // A collection that rests writes its checkpoint.
  if (size > 1) await new Promise((resolve) => setTimeout(resolve, restOf(size)));
  await database.close();
  return loadedParts({ url: LIBRARY });
}

/** @param {readonly unknown[]} found */
function checkGroup({ length }) {
  if (length !== GROUP_SIZE) throw new Error(`${length} documents were found.`);
}

/**
 * As an app after a reload: the code is loaded and has not run; it opens and queries at once.
 *
 * @param {import('../page/cairn.mjs').ClientName} client
 * @param {boolean} caching
 * @param {number} group
 * @returns {import('../workload.mjs').Contender}
 */
const openThrough =
  (client, caching, group = ASKED) =>
  async ({ prepared: { cairn, files, parts } }) => {
    const name = client === 'files' ? files : cairn;
    const library = await loadCairn({ url: LIBRARY, parts: parts[client] });
    const { ms, result } = await measure(async () => {
      const database = makeClient(library, client, name);
      const people = openPeople(database, { caching, indexes: INDEXES });
      return { database, found: await people.filter({ group }) };
    });
    checkClient(client, result.database);
    checkGroup(result.found);
    await result.database.close();
    return { ms };
  };

const OURS = [
  ...['thread', 'worker', 'files', 'thread, cached', 'worker, cached'],
  ...['thread, first time', 'worker, first time', 'files, first time'],
];

export default defineWorkload({
  name: 'open-indexed',
  title: 'a fresh page, from opening to the first indexed result of 200',
  sizes: [10_000, 100_000],
  smokeSizes: [1_000],
  freshPage: true,
  async prepare({ database, size }) {
    const names = { cairn: database, dexie: `${database}-dexie`, files: `${database}-files` };
    // This page has loaded nothing yet, so this measures the chunks of the worker client.
    const worker = await fillCairn('worker', `${database}-rehearsal`, 1);
    const files = await fillCairn('files', names.files, size);
    const thread = await fillCairn('thread', names.cairn, size);
    await fillDexie(names.dexie, size);
    return { ...names, parts: { worker, thread, files } };
  },
  contenders: {
    async dexie({ prepared: { dexie: name } }) {
      const { ms, result } = await measure(async () => {
        const database = openDexie(name);
        const people = database.table('people');
        return { database, found: await people.where('group').equals(ASKED).toArray() };
      });
      checkGroup(result.found);
      result.database.close();
      return { ms };
    },
    thread: openThrough('thread', false),
    worker: openThrough('worker', false),
    files: openThrough('files', false),
    'thread, cached': openThrough('thread', true),
    'worker, cached': openThrough('worker', true),
    'thread, first time': openThrough('thread', false, OTHER),
    'worker, first time': openThrough('worker', false, OTHER),
    'files, first time': openThrough('files', false, OTHER),
  },
  limits: OURS.map((contender) => ({
    figure: `${contender}: ms`,
    per: 'dexie: ms',
    atMost: 1,
  })),
});
