import { measure, middle, time } from '../../page/measure.mjs';
import { fill, getAtOnce, openFilled, openPeople, remove } from '../page/cairn.mjs';
import { defineWorkload } from '../workload.mjs';

/** @typedef {import('../page/cairn.mjs').People} People */
/** @typedef {import('../page/cairn.mjs').DatabaseClient} DatabaseClient */

const ALONE = 300;
const AT_ONCE = 1_000;
const OPEN = 100;
/** So often what is compared runs in turns, as the machine is never equally busy. */
const TURNS = 20;
const EACH_TURN = 500;

/** Another for each change. */
let next = 0;

/**
 * Reads a document and changes another field of it. @param {DatabaseClient} database @param
 * {People} people @param {string} id
 */
const transact = (database, people, id) =>
  database.transaction(async (tx) => {
    const person = await tx(people).get(id);
    await tx(people).patch(id, { age: (person?.age ?? 0) + 1 });
  });

/**
 * Runs what is compared in turns, each first in every other turn, after the saves of the one
 * before.
 *
 * @param {People} people
 * @param {readonly (() => Promise<number>)[]} compared return milliseconds
 * @returns the median milliseconds of each
 */
async function compare(people, compared) {
  /** @type {number[][]} */
  const times = compared.map(() => []);
  await measure(async () => {
    for (let turn = 0; turn < TURNS; turn++) {
      const order = [...compared.entries()];
      for (const [index, run] of turn % 2 === 0 ? order : order.reverse()) {
        await people.save();
        times[index]?.push(await run());
      }
    }
  });
  return times.map(middle);
}

/** @param {() => Promise<unknown>} run */
const timed = (run) => async () => (await time(run)).ms;

/**
 * One document read and one changed, one after the other and in a transaction. @param
 * {DatabaseClient} database @param {People} people @param {string[]} ids
 */
async function measureAlone(database, people, ids) {
  /** @type {number[]} */
  const plain = [];
  /** @type {number[]} */
  const inTransaction = [];
  await measure(async () => {
    for (const id of ids.slice(0, ALONE)) {
      const getAndPatch = async () => {
        const person = await people.get(id);
        await people.patch(id, { age: (person?.age ?? 0) + 1 });
      };
      plain.push((await time(getAndPatch)).ms);
      inTransaction.push((await time(() => transact(database, people, id))).ms);
    }
  });
  return {
    'µs get and patch': middle(plain) * 1000,
    'µs transaction': middle(inTransaction) * 1000,
  };
}

/** @param {DatabaseClient} database @param {People} people @param {string[]} ids */
async function measureOpen(database, people, ids) {
  const insert = () =>
    Promise.all(
      Array.from({ length: EACH_TURN }, () => people.insert(/** @type {any} */ ({ age: next++ }))),
    );
  const insertWhileOpen = async () => {
    /** @type {() => void} */
    let end = () => undefined;
    const ended = new Promise((resolve) => {
      end = () => resolve(undefined);
    });
    const open = await Promise.all(
      ids.slice(0, OPEN).map(
        (id) =>
          new Promise((opened) => {
            const done = database.transaction(async (tx) => {
              await tx(people).get(id);
              opened(() => done);
              await ended;
            });
          }),
      ),
    );
    const { ms } = await time(insert);
    end();
    for (const done of open) await /** @type {() => Promise<void>} */ (done)();
    return ms;
  };
  const [none, many] = /** @type {[number, number]} */ (
    await compare(people, [timed(insert), insertWhileOpen])
  );
  return {
    'µs insert, none open': (none * 1000) / EACH_TURN,
    'µs insert, 100 open': (many * 1000) / EACH_TURN,
  };
}

/**
 * A patch by id and one by an indexed criterion, each after the answer to the one before. @param
 * {DatabaseClient} database @param {number} size
 */
async function measureFound(database, size) {
  const people = openPeople(database, { name: 'found', caching: true, indexes: ['email'] });
  await fill(people, size);
  const some = (await people.filter({})).slice(-ALONE);
  const oneByOne = (/** @type {(person: typeof some[number]) => Promise<unknown>} */ run) =>
    timed(async () => {
      for (const person of some) await run(person);
    });
  const [byId, byIndex] = /** @type {[number, number]} */ (
    await compare(people, [
      oneByOne(({ _id }) => people.patch(_id, { age: next++ })),
      oneByOne(({ email }) => people.patchOne({ email }, { age: next++ })),
    ])
  );
  return {
    'µs patch by id, alone': (byId * 1000) / ALONE,
    'µs patchOne by an index, alone': (byIndex * 1000) / ALONE,
  };
}

/**
 * @param {import('../page/cairn.mjs').ClientName} client
 * @returns {import('../workload.mjs').Contender}
 */
const transactThrough =
  (client) =>
  async ({ database: name, size }) => {
    const { database, people } = await openFilled(client, name, { size });
    const ids = (await people.filter({}, { select: ['_id'] })).map(({ _id }) => _id);
    const some = ids.slice(-AT_ONCE);
    const transactAll = () => Promise.all(some.map((id) => transact(database, people, id)));
    await getAtOnce(people, ids);
    await transactAll(); // warms up
    const alone = await measureAlone(database, people, ids);
    const [atOnce] = /** @type {[number]} */ (await compare(people, [timed(transactAll)]));
    const open = await measureOpen(database, people, ids);
    const patchAll = (/** @type {() => any} */ changes) => () =>
      Promise.all(some.map((id) => people.patch(id, changes())));
    const [field, increase] = /** @type {[number, number]} */ (
      await compare(people, [
        timed(patchAll(() => ({ age: next++ }))),
        timed(patchAll(() => ({ $inc: { age: 1 } }))),
      ])
    );
    const found = await measureFound(database, size);
    await remove(database);
    return {
      ...alone,
      ...found,
      'µs each at once': (atOnce * 1000) / some.length,
      ...open,
      'µs patch of a field': (field * 1000) / some.length,
      'µs patch by $inc': (increase * 1000) / some.length,
    };
  };

export default defineWorkload({
  name: 'transactions',
  title: 'a transaction that reads a document and changes it; open ones; patches',
  sizes: [10_000],
  smokeSizes: [1_000],
  contenders: { thread: transactThrough('thread'), worker: transactThrough('worker') },
  limits: ['thread', 'worker'].flatMap((client) => [
    { figure: `${client}: µs transaction`, per: `${client}: µs get and patch`, atMost: 1.6 },
    { figure: `${client}: µs each at once`, atMost: 40 },
    {
      figure: `${client}: µs insert, 100 open`,
      per: `${client}: µs insert, none open`,
      atMost: 1.05,
    },
    ...(client === 'worker'
      ? [
          {
            figure: 'worker: µs patchOne by an index, alone',
            per: 'worker: µs patch by id, alone',
            atMost: 1.5,
          },
        ]
      : []),
    { figure: `${client}: µs patch by $inc`, per: `${client}: µs patch of a field`, atMost: 1 },
  ]),
});
