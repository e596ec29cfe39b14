import type { Driver, Store } from './contender.ts';
import { GROUP_SIZE, type Person, ZIPS } from './person.ts';

/** What a workload works with. */
interface Given {
  readonly driver: Driver;
  readonly database: string;
  readonly people: readonly Person[];
  store: Store;
}

/** A piece of work that every contender is given, in this order. */
export interface Workload {
  readonly name: string;
  readonly title: string;
  readonly unit: 'ms' | 'µs';
  /** Does it, and gives how long it took in its unit. Throws where an answer is wrong. */
  readonly run: (given: Given) => Promise<number>;
}

const GETS = 500;
/** Questions that are asked at the least, and for how long. */
const LEAST = 5;
const LONG_ENOUGH_MS = 60;
const LIMIT = 20;
const TENTH = ZIPS / 10;

async function time(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

/** The mean of many questions, each for something else: the clock of a page ticks too slowly for one. */
async function mean(ask: (number: number) => Promise<unknown>): Promise<number> {
  const began = performance.now();
  let asked = 0;
  while (asked < LEAST || performance.now() - began < LONG_ENOUGH_MS) await ask(asked++);
  return (performance.now() - began) / asked;
}

function check(what: string, found: unknown, right: unknown): void {
  if (found !== right) throw new Error(`${what}: ${found} found, and not ${right}.`);
}

export const WORKLOADS: readonly Workload[] = [
  {
    name: 'insert',
    title: 'Insert all, until they are in storage',
    unit: 'ms',
    run: ({ store, people }) => time(() => store.insertMany(people)),
  },
  {
    name: 'reopen',
    title: 'Close, open again, and find by an index',
    unit: 'ms',
    async run(given) {
      await given.store.close();
      return time(async () => {
        given.store = await given.driver.open(given.database);
        const found = await given.store.findGroup(0);
        check('The first answer', found.length, GROUP_SIZE);
      });
    },
  },
  {
    name: 'get',
    title: 'Get one by its id, many at once',
    unit: 'µs',
    async run({ store, people }) {
      const ids = people.slice(0, GETS).map(({ id }) => id);
      let found: unknown[] = [];
      const ms = await time(async () => {
        found = await Promise.all(ids.map((id) => store.get(id)));
      });
      check('Gets', found.filter(Boolean).length, ids.length);
      return (ms / ids.length) * 1000;
    },
  },
  {
    name: 'index',
    title: `Find ${GROUP_SIZE} by an index`,
    unit: 'ms',
    run: ({ store, people }) =>
      mean(async (number) => {
        const { length } = await store.findGroup(number % (people.length / GROUP_SIZE));
        check('By an index', length, GROUP_SIZE);
      }),
  },
  {
    name: 'scan',
    title: 'Find a tenth without an index',
    unit: 'ms',
    run({ store, people }) {
      const right = new Array<number>(ZIPS / TENTH).fill(0);
      for (const { address } of people) {
        const tenth = Math.floor(address.zip / TENTH);
        right[tenth] = (right[tenth] ?? 0) + 1;
      }
      return mean(async (number) => {
        const from = (number % 9) * TENTH;
        const { length } = await store.findZips(from, from + TENTH);
        check('Without an index', length, right[number % 9]);
      });
    },
  },
  {
    name: 'sorted',
    title: `The first ${LIMIT} to ${2 * LIMIT - 1} in order`,
    unit: 'ms',
    run: ({ store }) =>
      mean(async (number) => {
        const limit = LIMIT + (number % LIMIT);
        const found = await store.firstByScore(limit);
        check('In order', found.at(-1)?.score, limit - 1);
      }),
  },
];
