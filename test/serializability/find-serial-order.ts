import {
  encode,
  type History,
  isBefore,
  isSame,
  participantsOf,
  type State,
  type Transaction,
} from './history.ts';

/** Places of a bit mask. */
const MOST_TRANSACTIONS = 30;

/**
 * Searches an order in which the transactions, one at a time, read and leave exactly what they did.
 *
 * Exact, and exponential at worst: meant for some 12 transactions.
 *
 * @returns the ids of the transactions that took effect, or `undefined` if no order explains the
 *   history.
 */
export function findSerialOrder(history: History): readonly string[] | undefined {
  const all = participantsOf(history).filter(
    (one) => one.status !== 'unknown' || hasEffect(one), // else it may always be left out
  );
  if (all.length > MOST_TRANSACTIONS)
    throw new RangeError(`${all.length} transactions are too many to search an order.`);
  const order = new Search(all).extend(0, history.initial);
  const known = new Set(history.transactions.map(({ id }) => id));
  return order?.filter((id) => known.has(id));
}

function hasEffect({ status, operations }: Transaction): boolean {
  return status !== 'aborted' && operations.some(({ kind }) => kind === 'write');
}

class Search {
  readonly #all: readonly Transaction[];
  /** For each transaction those that have to be placed before it. */
  readonly #earlier: readonly number[];
  readonly #required: number;
  /** Placed transactions and state from which no order goes on. */
  readonly #deadEnds = new Set<string>();

  constructor(all: readonly Transaction[]) {
    this.#all = all.toSorted((a, b) => a.invoked - b.invoked);
    this.#earlier = this.#all.map((one) => this.#maskOf((other) => isBefore(other, one)));
    this.#required = this.#maskOf(({ status }) => status !== 'unknown');
  }

  extend(placed: number, state: State): string[] | undefined {
    if ((placed & this.#required) === this.#required) return [];
    const here = `${placed} ${encode(state)}`;
    if (this.#deadEnds.has(here)) return undefined;
    for (const [index, transaction] of this.#all.entries()) {
      const bit = 1 << index;
      const earlier = this.#earlier[index] as number;
      if (placed & bit || (placed & earlier) !== earlier) continue;
      const next = runIn(state, transaction);
      if (!next) continue;
      const rest = this.extend(placed | bit, next);
      if (rest) return [transaction.id, ...rest];
      // A reader that fits here may always come here: no other order succeeds either.
      if (!hasEffect(transaction)) break;
    }
    this.#deadEnds.add(here);
    return undefined;
  }

  #maskOf(isIn: (transaction: Transaction) => boolean): number {
    return this.#all.reduce((mask, one, index) => (isIn(one) ? mask | (1 << index) : mask), 0);
  }
}

/**
 * @returns the state after the transaction, or `undefined` if it would have read something else.
 */
function runIn(before: State, { operations, status }: Transaction): State | undefined {
  const state: Record<string, unknown> = { ...before };
  for (const operation of operations) {
    if (operation.kind === 'write') {
      if (operation.value === undefined) delete state[operation.key];
      else state[operation.key] = operation.value;
    } else if (operation.kind === 'read') {
      if (!isSame(state[operation.key], operation.value)) return undefined;
    } else {
      const matching = Object.entries(state).filter(([key, value]) =>
        operation.predicate(key, value),
      );
      if (!isSame(Object.fromEntries(matching), operation.keysAndValues)) return undefined;
    }
  }
  return status === 'aborted' ? before : state;
}
