import { TransactionError } from '../../errors/transaction-error.ts';
import type { CollectionContext } from '../collections/collection-context.ts';
import type { Request } from '../protocol/requests.ts';
import type { Coroutine, Result } from '../scheduling/coroutine.ts';
import { SerialQueue } from '../scheduling/serial-queue.ts';
import type { OpenSnapshots } from '../snapshots/open-snapshots.ts';
import { TransactionPart } from './transaction-part.ts';
import { TransactionSnapshot } from './transaction-snapshot.ts';

/** Characters of documents that a transaction may stage: all of them are checked and entered in one turn. */
const MOST_STAGED = 64 * 1024 * 1024;

/**
 * A transaction of a client: a snapshot, what was read of it, and what is staged. Until it is committed it blocks nobody, and
 * nobody sees it.
 */
export class Transaction {
  /** The order of its requests: one that waits for a document blocks the next. */
  readonly queue = new SerialQueue();
  readonly #snapshots: OpenSnapshots;
  /** Taken with the first request. */
  #snapshot: TransactionSnapshot | undefined;
  /** Few: a list is cheaper than a map. */
  readonly #parts: TransactionPart[] = [];
  #size = 0;
  #isOver = false;

  constructor(snapshots: OpenSnapshots) {
    this.#snapshots = snapshots;
  }

  /**
   * Executes a request on the view of a collection.
   *
   * @throws {TransactionError} `transaction_over`: the request had to wait, and the client has ended the transaction meanwhile.
   */
  execute(context: CollectionContext, request: Request): Result<unknown> {
    if (this.#isOver)
      throw new TransactionError('transaction_over', 'The transaction has ended meanwhile.');
    return this.#partOf(context).execute(request);
  }

  /** Whether a read would differ by now. Nothing changes between the answer and what its caller does next. */
  *isOutdated(): Coroutine<boolean> {
    const parts = this.#parts;
    do {
      for (const part of parts) if (yield* part.isOutdated()) return true;
      // A body may have had to be read.
    } while (parts.some((part) => part.isBehind));
    return false;
  }

  /**
   * Puts what is staged into its collections, all or none.
   *
   * @throws {ValueError} `unique_violation`; nothing has changed then.
   */
  apply(): void {
    const undo: (() => void)[] = [];
    const entering: (() => void)[] = [];
    try {
      for (const part of this.#parts) {
        const changes = part.changes();
        const { versions } = part.context;
        undo.push(versions.index(changes));
        entering.push(() => versions.enter(changes));
      }
    } catch (error) {
      for (const back of undo.reverse()) back();
      throw error;
    }
    for (const enter of entering) enter();
  }

  /**
   * Saves what it may have read of other clients. Must be called when it is committed, and awaited before the answer: if their tab
   * ended together with this engine, their changes would be gone, while its own client would replay changes that were computed from them.
   *
   * @returns `undefined` where nothing of others is unsaved.
   */
  secure(client: string): Promise<unknown> | undefined {
    const saves = this.#parts.map(({ context }) => context.saves);
    // What is being flushed may be the commit of such a transaction.
    const isDependent = this.#parts.some(
      ({ context }) =>
        context.saves.isFlushing || context.records.applied.hasUnsavedOfOthers(client),
    );
    // A failed save is reported and retried; the transaction is committed, as any change would be.
    return isDependent ? Promise.allSettled(saves.map((one) => one.flush())) : undefined;
  }

  /** Must be called when it is committed or rolled back. */
  end(): void {
    this.#isOver = true;
    for (const part of this.#parts) part.end();
    this.#snapshot?.release();
  }

  #partOf(context: CollectionContext): TransactionPart {
    let part = this.#parts.find((one) => one.context === context);
    if (!part) {
      this.#snapshot ??= new TransactionSnapshot(this.#snapshots);
      part = new TransactionPart(context, this.#snapshot, (size) => this.#grow(context, size));
      this.#parts.push(part);
    }
    return part;
  }

  #grow({ settings: { name } }: CollectionContext, size: number): void {
    if (this.#size + size <= MOST_STAGED) {
      this.#size += size;
      return;
    }
    throw new TransactionError(
      'transaction_too_large',
      `The transaction would change more than 64 MB, at last in collection "${name}". Use several, or insertMany.`,
      { place: name },
    );
  }
}
