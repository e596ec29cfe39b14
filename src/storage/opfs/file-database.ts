import { nextTurn } from '../../async/next-turn.ts';
import type { StorageError } from '../../errors/errors.ts';
import { DATABASE_ID, databaseIdOf } from '../drivers/database-id.ts';
import type {
  Durability,
  StorageKey,
  StorageOperation,
  StorageRange,
  StoreName,
} from '../drivers/driver.ts';
import { EPOCH_KEY, epochOf, resolveFence } from '../drivers/epoch.ts';
import { SharedDatabase } from '../drivers/shared-database.ts';
import { fileErrorOf, opfsFileDamaged } from './delete-files.ts';
import { ExtentNotes, type FileExtent, missingIn } from './extent-notes.ts';
import type { FileEntry } from './frames/file-index.ts';
import type { FrameLog } from './frames/frame-log.ts';
import type { FrameWrite } from './frames/frame-write.ts';
import { LogFiles } from './frames/log-files.ts';
import type { SyncFile } from './frames/sync-file.ts';
import { withBlobs } from './values/exact-parts.ts';

const HOME_KEY: StorageKey = ['home'];

export class FileDatabase extends SharedDatabase {
  readonly notes = new ExtentNotes(this);
  readonly #files: LogFiles;
  readonly #damaged: (error: StorageError) => void;
  readonly #stop: () => void;
  /** Whether a step of tidying is due. */
  #tidies = false;
  #isReleased = false;

  /**
   * @param stop Called when it ends.
   * @throws {StorageError} `format_newer`
   */
  constructor(
    files: readonly [SyncFile, SyncFile],
    damaged: (error: StorageError) => void,
    stop: () => void = () => undefined,
  ) {
    super();
    this.#stop = stop;
    this.#files = new LogFiles(files);
    this.#damaged = damaged;
    if (this.#files.isHeaderLost) damaged(opfsFileDamaged('its first bytes are lost'));
    for (const [from, to] of this.#files.log.damage)
      damaged(opfsFileDamaged(`bytes ${from} to ${to} are lost`));
  }

  /** Whether nothing is stored. */
  get isEmpty(): boolean {
    return this.#log.index.live === 0;
  }

  /** The epoch since which the data is here, 0 where a migration is not complete. */
  get since(): number {
    return epochOf(this.#log.get('leadership', HOME_KEY));
  }

  /** The epoch of the newest leader, or that of the migration. */
  get epoch(): number {
    return Math.max(this.since, epochOf(this.#log.get('leadership', EPOCH_KEY)));
  }

  /** The id of the database; empty before the data is here. */
  get id(): string {
    return databaseIdOf(this.#log.get('leadership', DATABASE_ID));
  }

  /** Offset behind the last whole write. */
  get size(): number {
    return this.#log.end;
  }

  get extent(): FileExtent {
    return { generation: this.#files.generation, length: this.#log.flushed };
  }

  /** Reports what is missing of what was noted. */
  compareWith(noted: unknown): void {
    const missing = missingIn(this.#files.generation, this.#log.end, noted);
    if (missing && !this.#files.isHeaderLost) this.#damaged(opfsFileDamaged(missing));
  }

  /** From now on the data is here. */
  settle(epoch: number, id: string): Promise<void> {
    const write = (key: StorageKey, value: object): StorageOperation => ({
      ...{ type: 'put', store: 'leadership' },
      ...{ key, value },
    });
    return this.write([write(DATABASE_ID, { id }), write(HOME_KEY, { epoch })], 'strict');
  }

  async getMany(store: StoreName, keys: readonly StorageKey[]): Promise<unknown[]> {
    await this.settled();
    return keys.map((key) => this.#read(this.#log.index.get(store, key)));
  }

  async list(store: StoreName, range: StorageRange): Promise<unknown[]> {
    await this.settled();
    return this.#log.index.list(store, range).map((entry) => this.#read(entry));
  }

  async keys(store: StoreName, prefix: StorageKey): Promise<StorageKey[]> {
    await this.settled();
    const range = { prefix, limit: Number.POSITIVE_INFINITY };
    return this.#log.index.list(store, range).map(({ key }) => key);
  }

  async getItem(store: StoreName, key: StorageKey, field: string, index: number): Promise<unknown> {
    await this.settled();
    const entry = this.#log.index.get(store, key);
    return entry && this.#log.readItem(entry, field, index);
  }

  /** All values, one by one: nothing may be written meanwhile. */
  *everything(): Generator<{ store: StoreName; key: StorageKey; value: object; size: number }> {
    for (const entry of this.#log.index.all()) {
      const value = this.#read(entry);
      if (value) yield { ...entry, value, size: entry.frame.dataLength };
    }
  }

  write(operations: Iterable<StorageOperation>, durability: Durability): Promise<void> {
    return this.enqueue(() => this.#apply(operations, durability === 'strict'));
  }

  protected override async enqueue(write: () => Promise<void>): Promise<void> {
    await super.enqueue(write);
    this.#tidySoon();
    if (!this.ended) this.notes.soon();
  }

  /** Makes all that is written survive a power cut. */
  flush(): Promise<void> {
    return this.enqueue(async () => this.#log.flush());
  }

  clear(): Promise<void> {
    return this.enqueue(async () => this.#files.clear());
  }

  override end(error?: StorageError, isGone?: boolean): Promise<void> {
    this.#stop();
    this.notes.stop();
    return super.end(error, isGone);
  }

  protected override errorOf(cause: unknown, doing: string): StorageError {
    return fileErrorOf(cause, doing);
  }

  protected override async release(isGone: boolean): Promise<void> {
    if (this.#isReleased) return;
    this.#files.close(isGone);
    if (!isGone) await this.notes.now();
  }

  get #log(): FrameLog {
    return this.#files.log;
  }

  #read(entry: FileEntry | undefined): object | undefined {
    const value = this.#log.read(entry);
    if (entry && !value)
      this.#damaged(opfsFileDamaged(`the value ${JSON.stringify(entry.key)} of "${entry.store}"`));
    return value;
  }

  async #apply(operations: Iterable<StorageOperation>, isStrict: boolean): Promise<void> {
    const log = this.#log;
    const write = log.begin();
    try {
      for (const operation of operations) {
        await this.#add(write, operation);
        if (!write.isFull) continue;
        write.spill();
        await nextTurn();
      }
      if (write.frames.length === 0) return;
      write.complete();
      log.commit(write, isStrict);
    } catch (error) {
      this.#undo(write, log.end);
      throw error;
    }
  }

  async #add(write: FrameWrite, operation: StorageOperation): Promise<void> {
    const { store, type } = operation;
    if (type === 'deletePrefix') return write.addDelete(store, operation.prefix, type);
    const { key } = operation;
    if (type === 'delete') return write.addDelete(store, key, type);
    const isPut = type === 'put';
    const value = isPut ? operation.value : resolveFence(this.#log.get(store, key), operation);
    if (isPut || value)
      await withBlobs((blobs) => write.addPut(store, key, value as object, blobs));
  }

  #undo(write: FrameWrite, end: number): void {
    try {
      write.undo(end);
    } catch (error) {
      // What stays behind the end could pass for a part of the next write.
      this.ended = fileErrorOf(error, 'undoing a write');
      this.#isReleased = true;
      this.#files.release();
    }
  }

  /** Between the writes, a step at a time. */
  #tidySoon(): void {
    if (this.#tidies || this.ended || !this.#files.isUntidy) return;
    this.#tidies = true;
    nextTurn()
      .then(() => {
        this.#tidies = false;
        return this.enqueue(async () => this.#files.tidy());
      })
      // The disk is full, or the database is closed: the file stays as it is.
      .catch(() => undefined);
  }
}
