import type {
  History,
  Operation,
  Query,
  Read,
  State,
  Transaction,
  TransactionStatus,
  Write,
} from './history.ts';

export const read = (key: string, value?: unknown): Read => ({ kind: 'read', key, value });

export const write = (key: string, value?: unknown): Write => ({ kind: 'write', key, value });

/** Finds the keys that begin so. */
export const queryPrefix = (prefix: string, keysAndValues: State): Query => ({
  kind: 'query',
  keysAndValues,
  predicate: (key) => key.startsWith(prefix),
  text: `${prefix}*`,
});

/** Operations of a transaction between two times, and how it ended unless it was committed. */
type Row = readonly [
  invoked: number,
  completed: number,
  operations: readonly Operation[],
  status?: TransactionStatus,
];

/** A history of transactions `t1`, `t2`, … with the same state at rest and after a restart. */
export function historyOf(initial: State, rows: readonly Row[], final: State): History {
  const transactions = rows.map(
    ([invoked, completed, operations, status = 'committed'], index): Transaction => ({
      ...{ id: `t${index + 1}`, invoked, completed, status, operations },
    }),
  );
  const finals = ['at rest', 'after a restart'].map((when) => ({ when, state: final }));
  return { initial, transactions, finals };
}
