import { expect, test } from 'vitest';
import { findCycle } from '../serializability/find-cycle.ts';
import { findSerialOrder } from '../serializability/find-serial-order.ts';
import { formatHistory } from '../serializability/format-history.ts';
import type { History } from '../serializability/history.ts';
import { Random } from '../setup/random.ts';
import { seedsOf } from './run-seeds.ts';
import { type Attempt, type CollectionName, keyOf, TransactionLog } from './transaction-log.ts';
import {
  type Account,
  INITIAL_ACCOUNTS,
  nextProgram,
  type Task,
  TOTAL,
} from './transaction-program.ts';
import { isMatch, RolledBack, runProgram, type TransactionCalls } from './transaction-run.ts';

type Store = Map<string, Record<string, unknown>>;

const SEEDS = 300;
const TRANSACTIONS = 12;
const CLIENTS = 3;

const isBalance = ([key]: [string, unknown]) => key.startsWith(keyOf('accounts', ''));
const totalOf = (state: object) =>
  Object.entries(state)
    .filter(isBalance)
    .reduce((sum, [, account]) => sum + (account as Account).balance, 0);

function callsOn(store: Store): TransactionCalls {
  const set = async (collection: CollectionName, id: string, value: object) =>
    store.set(keyOf(collection, id), { ...value });
  return {
    get: async (collection, id) => store.get(keyOf(collection, id)),
    query: async (collection, criteria) => {
      const inCollection = [...store].filter(([key]) => key.startsWith(keyOf(collection, '')));
      return inCollection.flatMap(([, one]) => (isMatch(one, criteria) ? [one] : []));
    },
    insert: (collection, document) => set(collection, document._id, document),
    update: (collection, id, document) =>
      set(collection, id, collection === 'counters' ? document : { _id: id, ...document }),
    delete: async (collection, id) => store.delete(keyOf(collection, id)),
  };
}

/** Runs programs of a few clients at once, on a store that isolates them or not. */
async function simulate(seed: number, isIsolated: boolean) {
  const random = new Random(seed);
  let store: Store = new Map(
    INITIAL_ACCOUNTS.map((one) => [keyOf('accounts', one._id), { ...one }]),
  );
  const log = new TransactionLog(Object.fromEntries(store));
  const kinds = new Set<Task['kind']>();
  let begun = 0;
  let turn: Promise<unknown> = Promise.resolve();
  const pause = async (ms: number) => {
    for (let left = ms; left > 0; left--) await undefined;
  };
  const runOne = async ({ id, operations, end }: Attempt) => {
    const program = nextProgram(random);
    kinds.add(program.task.kind);
    const own: Store = isIsolated ? new Map(store) : store;
    try {
      await runProgram(program, { id, calls: callsOn(own), pause, operations });
      store = own;
      end(random.chance(0.1) ? 'unknown' : 'committed');
    } catch (error) {
      if (!(error instanceof RolledBack)) throw error;
      end('aborted');
    }
  };
  const runClient = async () => {
    while (begun < TRANSACTIONS) {
      const attempt = log.begin(`t${++begun}`);
      turn = isIsolated ? turn.then(() => runOne(attempt)) : runOne(attempt);
      await turn;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, runClient));
  const state = Object.fromEntries(store);
  const history: History = log.history([{ when: 'at rest', state }]);
  return { history, kinds, total: totalOf(state) };
}

test('programs that run one after the other make a serialisable history', async () => {
  const kinds = new Set<Task['kind']>();
  for (const seed of seedsOf(SEEDS)) {
    const { history, total, ...run } = await simulate(seed, true);
    const isRight = findSerialOrder(history) && !findCycle(history);
    expect([seed, isRight ? '' : formatHistory(history), total]).toEqual([seed, '', TOTAL]);
    for (const kind of run.kinds) kinds.add(kind);
  }
  expect(kinds.size).toBe(8);
});

test('programs that run at once on one store are found out', async () => {
  let found = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { history } = await simulate(seed, false);
    const cycle = findCycle(history);
    if (cycle) found++;
    if (cycle) expect(findSerialOrder(history)).toBeUndefined();
  }
  expect(found).toBeGreaterThan(SEEDS / 2);
});

test('what never ended is unknown', () => {
  const log = new TransactionLog({});
  log.begin('t1').end('committed');
  log.begin('t2').operations.push({ kind: 'write', key: 'a', value: 1 });
  const { transactions } = log.history([]);
  expect(transactions.map(({ id, status }) => [id, status])).toEqual([
    ['t1', 'committed'],
    ['t2', 'unknown'],
  ]);
});
