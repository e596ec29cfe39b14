import type { Contender, Store } from './contender.ts';
import { GROUP_SIZE, type Person, ZIPS } from './person.ts';

/** What a workload works with. */
interface Given {
  readonly contender: Contender;
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
const ASKED = 15;
const LIMIT = 20;

async function time(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

/** The middle of the times of many questions, each for something else. */
async function middle(ask: (number: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let number = 0; number < ASKED; number++) times.push(await time(() => ask(number)));
  return times.sort((a, b) => a - b)[ASKED >> 1] as number;
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
        given.store = await given.contender.open(given.database);
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
      middle(async (number) => {
        const { length } = await store.findGroup(number % (people.length / GROUP_SIZE));
        check('By an index', length, GROUP_SIZE);
      }),
  },
  {
    name: 'scan',
    title: 'Find a tenth without an index',
    unit: 'ms',
    run: ({ store, people }) =>
      middle(async (number) => {
        const from = (number * ZIPS) / ASKED / 2;
        const to = from + ZIPS / 10;
        const { length } = await store.findZips(from, to);
        const right = people.filter(({ address: { zip } }) => zip >= from && zip < to);
        check('Without an index', length, right.length);
      }),
  },
  {
    name: 'sorted',
    title: `The first ${LIMIT} in order`,
    unit: 'ms',
    run: ({ store }) =>
      middle(async (number) => {
        const found = await store.firstByScore(LIMIT + number); // nobody answers from memory
        check('In order', found.at(-1)?.score, LIMIT + number - 1);
      }),
  },
];
