import { TransactionError } from '../../errors/transaction-error.ts';
import type { OpenSnapshots, Snapshot } from '../snapshots/open-snapshots.ts';

/** The snapshot of a transaction. */
export class TransactionSnapshot {
  readonly #snapshots: OpenSnapshots;
  readonly #snapshot: Snapshot;

  constructor(snapshots: OpenSnapshots) {
    this.#snapshots = snapshots;
    this.#snapshot = snapshots.take();
  }

  get at(): number {
    return this.#snapshot.at;
  }

  /** @throws {TransactionError} `transaction_expired` */
  check(): void {
    if (this.#snapshots.isOpen(this.#snapshot)) return;
    throw new TransactionError(
      'transaction_expired',
      'More than 100,000 changes were made while the transaction was open. Make it shorter.',
    );
  }

  /** The error of a snapshot whose collection was replaced as a whole. */
  lost(): TransactionError {
    return new TransactionError(
      'transaction_conflict',
      'A backup or a file has replaced the collection.',
    );
  }

  release(): void {
    this.#snapshots.release(this.#snapshot);
  }
}
