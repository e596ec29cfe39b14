import type { ImportProgress } from '../../engine/protocol/backup-protocol.ts';
import { BackupError } from '../../errors/backup-error.ts';
import { OptionError } from '../../errors/option-error.ts';
import { withDeadline } from '../../storage/drivers/deadline.ts';

/** Where a file comes from: a stream of its bytes, or a `File` or other Blob. */
export type FileSource = ReadableStream<Uint8Array> | Blob;

/** Options of `importBackup` and `importAll`. */
export interface ImportOptions {
  /**
   * `replace`: the file takes the place of what is there. `merge`: documents of the file take the place of those
   * with the same id, and the others stay.
   * @default 'replace'
   */
  mode?: 'replace' | 'merge' | undefined;
  /**
   * Called as it goes on, with the documents and bytes of the file read so far, and when it is done. An error that
   * it throws gives the import up, where that is not in place yet.
   */
  progress?: ((progress: ImportProgress) => void) | undefined;
  /** Gives it up: nothing is changed, unless everything was read and is being put in place. */
  signal?: AbortSignal | undefined;
}

/** A source that gives no bytes for so long counts as dead: the import blocks other calls of the collection. */
const SILENCE_MS = 60_000;

/** The bytes of a file, chunk by chunk. */
export class FileBytes implements AsyncIterable<Uint8Array> {
  /** Bytes read so far. */
  read = 0;
  readonly #reader: ReadableStreamDefaultReader<unknown>;
  /** Reject when reading on is pointless. */
  readonly #ends: Promise<never>[] = [];

  /** @throws {OptionError} for what is no source of bytes. */
  constructor(source: unknown, signal: AbortSignal | undefined) {
    this.#reader = readerOf(source);
    if (!signal) return;
    const aborted = new Promise<never>((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    this.#add(aborted);
  }

  /** Reading fails when the engine's answer is an error. */
  endWith(answer: unknown): void {
    const ended = Promise.resolve(answer).then(() => new Promise<never>(() => undefined));
    this.#add(ended);
  }

  /** What a codec makes of the bytes; rejects at once when reading on is pointless, whatever the codec is doing. */
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

  /** @throws {BackupError} `file_stalled` */
  async #next(): Promise<Uint8Array | undefined> {
    const read = this.unlessEnded(this.#reader.read());
    const { value, done } = await withDeadline(read, SILENCE_MS, stalled);
    if (done) return undefined;
    if (value instanceof Uint8Array) return value;
    throw notBytes();
  }

  /** Cancels the source. */
  end(): void {
    // Errors of a source that is not needed any more.
    this.#reader.cancel().catch(() => undefined);
  }

  #add(end: Promise<never>): void {
    // Only a pending read rejects with it.
    end.catch(() => undefined);
    this.#ends.push(end);
  }
}

function readerOf(source: unknown): ReadableStreamDefaultReader<unknown> {
  const { stream } = (source ?? {}) as Partial<Blob>;
  const found = typeof stream === 'function' ? (source as Blob).stream() : source;
  const { getReader, locked } = (found ?? {}) as Partial<ReadableStream<unknown>>;
  if (typeof getReader !== 'function' || locked) throw notBytes();
  const reader = (found as ReadableStream<unknown>).getReader();
  const { read, cancel } = (reader ?? {}) as Partial<typeof reader>;
  if (typeof read !== 'function' || typeof cancel !== 'function') throw notBytes();
  return reader;
}

function stalled(): BackupError {
  return new BackupError(
    'file_stalled',
    `The stream gave no bytes for ${SILENCE_MS / 1000} seconds, so the import was aborted. Nothing was changed; save the file first, and import it from there.`,
    { place: 'stream' },
  );
}

function notBytes(): OptionError {
  return new OptionError(
    'option_invalid',
    'A file is read from a ReadableStream of Uint8Array that nobody else reads, or from a File or Blob, such as `await response.blob()` or `new Blob([bytes])`.',
    { place: 'stream' },
  );
}
