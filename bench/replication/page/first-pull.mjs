import { openPeople, openWarm, remove } from '../../limits/page/cairn.mjs';
import { timeAndWatch } from '../../page/measure.mjs';
import { makeIdentified, replicateWith } from './replicated.mjs';

/**
 * @typedef {import('../../limits/page/cairn.mjs').People} People
 *
 * @typedef {object} Input
 * @property {string} database a name that nobody has used
 * @property {'insertMany' | 'pull'} contender
 * @property {number} size
 * @property {string} remote the collection of the server that has the documents
 */

/**
 * What a contender does, once what it needs is there. @type {Record<Input['contender'], (people:
 * People, input: Input) => () => Promise<unknown>>}
 */
const contenders = {
  insertMany(people, { size }) {
    const documents = makeIdentified(size);
    return async () => {
      await people.insertMany(documents.splice(0));
      await people.save();
    };
  },
  pull:
    (people, { remote }) =>
    async () => {
      const sync = await replicateWith(people, remote);
      await sync.settled();
      await people.save();
      await sync.stop();
    },
};

/** @typedef {Awaited<ReturnType<typeof open>>} Prepared */

/** @type {Prepared | undefined} */
let prepared;

/** @param {Input} input */
async function open(input) {
  const database = await openWarm('worker', input.database);
  // The code of replication is warm too.
  const sync = await replicateWith(openPeople(database, { name: 'warm-pull' }), 'warm');
  await sync.settled();
  await sync.stop();
  const people = openPeople(database);
  await people.ready;
  return { database, people, size: input.size, run: contenders[input.contender](people, input) };
}

/** Opens a warm database. @param {Input} input */
export async function prepare(input) {
  prepared = await open(input);
}

/** Measures the contender that was prepared. */
export async function runPrepared() {
  const { people, size, run } = /** @type {Prepared} */ (prepared);
  const { ms, longest, longTask } = await timeAndWatch(run);
  const count = await people.count();
  if (count !== size) throw new Error(`${count} documents are here, and not ${size}.`);
  return { ms, 'blocked ms': longest, 'long task ms': longTask };
}

export async function clean() {
  await remove(/** @type {Prepared} */ (prepared).database);
  prepared = undefined;
}
