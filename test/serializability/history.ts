/** Values by key. A missing key holds `undefined`. */
export type State = Readonly<Record<string, unknown>>;

export interface Read {
  readonly kind: 'read';
  readonly key: string;
  /** `undefined` if the key was missing. */
  readonly value: unknown;
}

export interface Query {
  readonly kind: 'query';
  /** Everything that the query found. */
  readonly keysAndValues: State;
  /** Is asked about present values alone. */
  readonly predicate: (key: string, value: unknown) => boolean;
  /** The predicate, to print. */
  readonly text?: string;
}

export interface Write {
  readonly kind: 'write';
  readonly key: string;
  /** `undefined` deletes. */
  readonly value: unknown;
}

export type Operation = Read | Query | Write;

/**
 * `committed`: acknowledged. `aborted`: rolled back, or refused by a conflict; without effect.
 * `unknown`: the page died or the answer was lost; without effect, or in effect at any time since
 * it was invoked.
 */
export type TransactionStatus = 'committed' | 'aborted' | 'unknown';

export interface Transaction {
  readonly id: string;
  readonly invoked: number;
  /** Ignored for `unknown`: that one may take effect at any later time. */
  readonly completed: number;
  readonly status: TransactionStatus;
  /** In the order of the calls. */
  readonly operations: readonly Operation[];
}

export interface History {
  readonly initial: State;
  readonly transactions: readonly Transaction[];
  /** States that were observed after all transactions, one after the other. */
  readonly finals: readonly { readonly when: string; readonly state: State }[];
  /** Opacity: even an aborted transaction has to have read one state. */
  readonly abortedReadSnapshots?: boolean;
}

/** Two values with the same encoding are the same. */
export function encode(value: unknown): string {
  if (value === undefined) return 'missing';
  return JSON.stringify(value, (_, part) =>
    part && typeof part === 'object' && !Array.isArray(part) ? sortKeys(part) : part,
  );
}

export function isSame(a: unknown, b: unknown): boolean {
  return Object.is(a, b) || (typeof a === typeof b && encode(a) === encode(b));
}

function sortKeys(object: object): object {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * All transactions that a serial order may contain.
 *
 * A final state is a transaction that reads everything after all others.
 */
export function participantsOf(history: History): readonly Transaction[] {
  const { transactions, finals, abortedReadSnapshots = false } = history;
  const times = transactions.flatMap(({ invoked, completed }) => [invoked, completed]);
  const last = times.filter(Number.isFinite).reduce((a, b) => Math.max(a, b), 0);
  const observers = finals.map(
    ({ when, state }, index): Transaction => ({
      id: when,
      invoked: last + 2 * index + 1,
      completed: last + 2 * index + 2,
      status: 'committed',
      operations: [
        { kind: 'query', keysAndValues: state, predicate: () => true, text: 'everything' },
      ],
    }),
  );
  const participants = transactions
    .filter(({ status }) => abortedReadSnapshots || status !== 'aborted')
    .map((one) => (one.status === 'unknown' ? { ...one, completed: Infinity } : one));
  return [...participants, ...observers];
}

/** Real-time order: the first ends before the second begins. */
export function isBefore(first: Transaction, second: Transaction): boolean {
  return first.completed < second.invoked;
}
