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
import { databaseTaken, EPOCH_KEY, epochOf, resolveClaim } from '../drivers/epoch.ts';
import { ExtentNotes, type FileExtent, missingIn } from './extent-notes.ts';
import type { FileEntry } from './frames/file-index.ts';
import type { FrameLog } from './frames/frame-log.ts';
import type { FrameWrite } from './frames/frame-write.ts';
import { LogFiles } from './frames/log-files.ts';
import type { SyncFile } from './frames/sync-file.ts';
import { databaseClosed, fileErrorOf, opfsFileDamaged } from './opfs-failure.ts';
import { type BlobContents, UnreadBlob } from './values/exact-parts.ts';

const HOME_KEY: StorageKey = ['home'];

/**
 * A database in two files, for all that have it open in this thread. Writes wait for each other,
 * reads for writes.
 */
export class FileDatabase {
  /** What IndexedDB notes of the files. */
  readonly notes = new ExtentNotes(this);
  readonly #files: LogFiles;
  readonly #damaged: (error: StorageError) => void;
  /** The newest write; never rejects. */
  #last: Promise<unknown> = Promise.resolve();
  /** Writes that are not done. */
  #waiting = 0;
  /** Why calls are refused. */
  #ended: StorageError | undefined;
  #closing: Promise<void> | undefined;
  /** Whether a step of tidying is due. */
  #tidies = false;

  /** @throws {StorageError} `format_newer` */
  constructor(files: readonly [SyncFile, SyncFile], damaged: (error: StorageError) => void) {
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

  /**
   * The epoch since which the data is here, 0 where it is not: a migration that is not complete.
   */
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
    await this.#settled();
    return keys.map((key) => this.#read(this.#log.index.get(store, key)));
  }

  async list(store: StoreName, range: StorageRange): Promise<unknown[]> {
    await this.#settled();
    return this.#log.index.list(store, range).map((entry) => this.#read(entry));
  }

  async keys(store: StoreName, prefix: StorageKey): Promise<StorageKey[]> {
    await this.#settled();
    const range = { prefix, limit: Number.POSITIVE_INFINITY };
    return this.#log.index.list(store, range).map(({ key }) => key);
  }

  async getItem(store: StoreName, key: StorageKey, field: string, index: number): Promise<unknown> {
    if (this.#waiting > 0) await this.#settled();
    if (this.#ended) throw this.#ended;
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
    return this.#enqueue(() => this.#apply(operations, durability === 'strict'));
  }

  /** Makes all that is written survive a power cut. */
  flush(): Promise<void> {
    return this.#enqueue(async () => this.#log.flush());
  }

  /** Removes everything. */
  clear(): Promise<void> {
    return this.#enqueue(async () => this.#files.clear());
  }

  /**
   * Releases the files after the writes that have begun. Later calls reject.
   *
   * @param error Why.
   * @param isGone Whether nothing of the files may be kept.
   */
  async end(error = databaseClosed(), isGone = false): Promise<void> {
    if (!this.#ended) {
      this.#ended = error;
      this.notes.stop();
      this.#closing = this.#last.then(async () => {
        this.#files.close(isGone);
        if (!isGone) await this.notes.now();
      });
    }
    await (this.#closing ?? this.#last).catch((cause: unknown) => {
      throw fileErrorOf(cause, 'closing');
    });
  }

  get #log(): FrameLog {
    return this.#files.log;
  }

  async #settled(): Promise<void> {
    if (this.#waiting > 0) await this.#last;
    if (this.#ended) throw this.#ended;
  }

  #read(entry: FileEntry | undefined): object | undefined {
    const value = this.#log.read(entry);
    if (entry && !value)
      this.#damaged(opfsFileDamaged(`the value ${JSON.stringify(entry.key)} of "${entry.store}"`));
    return value;
  }

  #enqueue(run: () => Promise<void>): Promise<void> {
    if (this.#ended) return Promise.reject(this.#ended);
    this.#waiting++;
    const begin = async () => {
      try {
        await run();
      } catch (error) {
        throw fileErrorOf(error, 'writing');
      } finally {
        this.#waiting--;
      }
    };
    // Without a turn where nothing is before it.
    const done = this.#waiting === 1 ? begin() : this.#last.then(begin);
    this.#last = done.then(
      () => {
        this.#tidySoon();
        if (!this.#ended) this.notes.soon();
      },
      () => undefined,
    );
    return done;
  }

  async #apply(operations: Iterable<StorageOperation>, isStrict: boolean): Promise<void> {
    const log = this.#log;
    const write = log.begin();
    const blobs = new Map<Blob, Uint8Array<ArrayBuffer>>();
    try {
      for (const operation of operations) {
        while (!this.#add(write, operation, blobs)) await readBlobs(blobs);
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

  /** @returns whether it is added; else there are Blobs to read. */
  #add(write: FrameWrite, operation: StorageOperation, blobs: BlobMap): boolean {
    const { store, type } = operation;
    if (type === 'put') {
      try {
        write.addPut(store, operation.key, operation.value, blobs as BlobContents);
      } catch (error) {
        if (!(error instanceof UnreadBlob)) throw error;
        blobs.set(error.blob, undefined);
        return false;
      }
    } else if (type === 'delete') write.addDelete(store, operation.key, type);
    else if (type === 'deletePrefix') write.addDelete(store, operation.prefix, type);
    else {
      const stored = this.#log.get(store, operation.key);
      if (type === 'claim') {
        const value = resolveClaim(stored, operation);
        if (value) write.addPut(store, operation.key, value, new Map());
      } else if (epochOf(stored) !== operation.epoch) throw databaseTaken();
    }
    return true;
  }

  #undo(write: FrameWrite, end: number): void {
    try {
      write.undo(end);
    } catch (error) {
      // What stays behind the end could pass for a part of the next write.
      this.#ended = fileErrorOf(error, 'undoing a write');
      this.#files.release();
    }
  }

  /** Between the writes, a step at a time. */
  #tidySoon(): void {
    if (this.#tidies || this.#ended || !this.#files.isUntidy) return;
    this.#tidies = true;
    nextTurn()
      .then(() => {
        this.#tidies = false;
        return this.#enqueue(async () => this.#files.tidy());
      })
      // The disk is full, or the database is closed: the file stays as it is.
      .catch(() => undefined);
  }
}

type BlobMap = Map<Blob, Uint8Array<ArrayBuffer> | undefined>;

async function readBlobs(blobs: BlobMap): Promise<void> {
  for (const [blob, bytes] of blobs)
    if (!bytes) blobs.set(blob, new Uint8Array(await blob.arrayBuffer()));
}
