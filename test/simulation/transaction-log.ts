import type {
  History,
  Operation,
  State,
  Transaction,
  TransactionStatus,
} from '../serializability/history.ts';

export type CollectionName = 'accounts' | 'ledger' | 'counters';

/** The key of a document or value in a history of several collections. */
export function keyOf(collection: CollectionName, id: string): string {
  return `${collection}/${id}`;
}

/** One run of the callback of a transaction. */
export interface Attempt {
  readonly id: string;
  readonly operations: Operation[];
  /** Ends it. The first end counts. */
  end(status: TransactionStatus): void;
}

/**
 * Writes the history down.
 *
 * Its times are a counter: what happens in one thread is in one order, also within a millisecond.
 */
export class TransactionLog {
  readonly #initial: State;
  readonly #open = new Map<string, () => Transaction>();
  readonly #transactions: Transaction[] = [];
  #time = 0;

  constructor(initial: State) {
    this.#initial = initial;
  }

  /** A time after all that happened so far. */
  mark(): number {
    return ++this.#time;
  }

  /** A transaction, or another run of one that met a conflict: it has an id of its own. */
  begin(id: string): Attempt {
    const invoked = ++this.#time;
    const operations: Operation[] = [];
    const as = (status: TransactionStatus, completed: number) => ({
      ...{ id, invoked, completed, status, operations: [...operations] },
    });
    this.#open.set(id, () => as('unknown', Infinity));
    const end = (status: TransactionStatus) => {
      if (this.#open.delete(id)) this.#transactions.push(as(status, ++this.#time));
    };
    return { id, operations, end };
  }

  /** What never ended is unknown. */
  history(finals: History['finals']): History {
    const unanswered = [...this.#open.values()].map((transaction) => transaction());
    return {
      initial: this.#initial,
      transactions: [...this.#transactions, ...unanswered],
      finals,
    };
  }
}
