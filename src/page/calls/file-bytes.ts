import { withDeadline } from '../../async/clock.ts';
import { isRevoked } from '../../codec/kinds.ts';
import { BackupError, OptionError } from '../../errors/errors.ts';
import type { ImportProgress } from '../../protocol/backup-protocol.ts';

/** A file to import: a stream of bytes, a `File` or another Blob. */
export type FileSource = ReadableStream<Uint8Array> | Blob;

/** Options of `importBackup` and `importAll`. */
export interface ImportOptions {
  /**
   * `replace`: replaces all documents by those of the file. `merge`: replaces documents with the
   * same id, adds the others, and keeps the rest.
   * @default 'replace'
   */
  mode?: 'replace' | 'merge' | undefined;
  /**
   * Called during the import with the documents and bytes read so far, and once at the end. If it
   * throws, the import is aborted, unless its result is already in place.
   */
  progress?: ((progress: ImportProgress) => void) | undefined;
  /** Aborts the import: nothing changes, unless its result is already in place. */
  signal?: AbortSignal | undefined;
}

/**
 * A stream without bytes for this long counts as dead: the import blocks other calls of the
 * collection.
 */
const SILENCE_MS = 60_000;
/** The same while the client closes, which waits for the import. */
const CLOSING_SILENCE_MS = 2000;

export class FileBytes implements AsyncIterable<Uint8Array> {
  /** Bytes read so far. */
  read = 0;
  readonly #reader: ReadableStreamDefaultReader<unknown>;
  /** Reject when reading must stop. */
  readonly #ends: Promise<never>[] = [];
  readonly #isClosing: () => boolean;
  #stopListening: () => void = () => undefined;

  /**
   * @param isClosing Whether the client waits for the import, to close.
   * @throws {OptionError} unless the source is a stream or Blob.
   */
  constructor(source: unknown, signal: AbortSignal | undefined, isClosing: () => boolean) {
    this.#reader = readerOf(source);
    this.#isClosing = isClosing;
    if (!signal) return;
    const aborted = new Promise<never>((_, reject) => {
      const abort = () => reject(signal.reason);
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort, { once: true });
      this.#stopListening = () => signal.removeEventListener('abort', abort);
    });
    this.#add(aborted);
  }

  /** Stops reading when the engine's reply is an error. */
  endWith(answer: unknown): void {
    const ended = Promise.resolve(answer).then(() => new Promise<never>(() => undefined));
    this.#add(ended);
  }

  /** The output of a codec; rejects at once when further reads are pointless. */
  unlessEnded<T>(output: Promise<T>): Promise<T> {
    return Promise.race([output, ...this.#ends]);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      const bytes = await this.#next();
      if (!bytes) return;
      this.read += bytes.length;
      yield bytes;
    }
  }

  async #next(): Promise<Uint8Array | undefined> {
    const { value, done } = await this.#unlessSilent(this.unlessEnded(this.#reader.read()));
    if (done) return undefined;
    if (value instanceof Uint8Array) return value;
    throw notBytes();
  }

  /** @throws {BackupError} `file_stalled` */
  async #unlessSilent<T>(read: Promise<T>): Promise<T> {
    const since = performance.now();
    const late = new Error();
    for (;;) {
      try {
        return await withDeadline(read, CLOSING_SILENCE_MS, () => late);
      } catch (error) {
        if (error !== late) throw error;
        const silent = performance.now() - since;
        if (silent >= SILENCE_MS || this.#isClosing()) throw stalled(silent);
      }
    }
  }

  /** Cancels the source. */
  end(): void {
    this.#stopListening();
    // The source is not needed any more; its errors do not matter.
    this.#reader.cancel().catch(() => undefined);
  }

  #add(end: Promise<never>): void {
    // Only a pending read rejects with it.
    end.catch(() => undefined);
    this.#ends.push(end);
  }
}

function readerOf(source: unknown): ReadableStreamDefaultReader<unknown> {
  if (isRevoked(source)) throw notBytes();
  const { stream } = (source ?? {}) as Partial<Blob>;
  const found = typeof stream === 'function' ? (source as Blob).stream() : source;
  const { getReader, locked } = (found ?? {}) as Partial<ReadableStream<unknown>>;
  if (typeof getReader !== 'function' || locked) throw notBytes();
  const reader = (found as ReadableStream<unknown>).getReader();
  const { read, cancel } = (reader ?? {}) as Partial<typeof reader>;
  if (typeof read !== 'function' || typeof cancel !== 'function') throw notBytes();
  return reader;
}

function stalled(ms: number): BackupError {
  const how = ms < SILENCE_MS ? ', and the client is closing' : '';
  return new BackupError(
    'file_stalled',
    `The stream gave no bytes for ${Math.round(ms / 1000)} seconds${how}, so the import was aborted. Nothing was changed; save the file first, then import it.`,
    { place: 'stream' },
  );
}

function notBytes(): OptionError {
  return new OptionError(
    'option_invalid',
    'A file must be an unlocked ReadableStream of Uint8Array, a File or a Blob, such as `await response.blob()` or `new Blob([bytes])`.',
    { place: 'stream' },
  );
}
