import type { Snapshot } from '../../backup/snapshot.ts';
import { backupDamage } from '../backups/restore.ts';
import { DocumentStore } from '../documents/document-store.ts';
import type { KeyValueStore } from '../key-values/key-value-store.ts';
import type { Request } from '../protocol/requests.ts';
import { isCoroutine, run } from '../scheduling/coroutine.ts';

/** A backup that is being read: its records in memory, its segments pinned in storage. */
export class OpenBackup {
  readonly #snapshot: Snapshot;
  readonly #store: DocumentStore | KeyValueStore;
  readonly #release: () => void;
  #running = 0;
  #isClosed = false;

  /** @param release Unpins the segments. */
  constructor(snapshot: Snapshot, store: DocumentStore | KeyValueStore, release: () => void) {
    this.#snapshot = snapshot;
    this.#store = store;
    this.#release = release;
  }

  /** Whether a reader waits for an answer, or has not read a scan to its end. */
  get isBusy(): boolean {
    return this.#running > 0 || this.#documents?.scans.isOpen === true;
  }

  /** @throws {BackupError} `backup_damaged` */
  async execute(request: Request): Promise<unknown> {
    this.#running++;
    try {
      const result = this.#store.execute(request);
      return isCoroutine(result) ? await run(result) : result;
    } catch (error) {
      throw backupDamage(this.#snapshot, error);
    } finally {
      this.#running--;
      this.#unpin();
    }
  }

  endScan(request: Request<'scanEnd'>): void {
    this.#documents?.execute(request);
  }

  /** Unpins the segments once the last answer is given. */
  close(): void {
    this.#isClosed = true;
    this.#documents?.endScans();
    this.#unpin();
  }

  get #documents(): DocumentStore | undefined {
    return this.#store instanceof DocumentStore ? this.#store : undefined;
  }

  #unpin(): void {
    if (this.#isClosed && this.#running === 0) this.#release();
  }
}
