import type { ImportProgress } from '../engine/backup-protocol.ts';
import { OptionError } from '../errors/option-error.ts';

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
  /** Called as it goes on, with the documents and bytes of the file read so far. */
  progress?: ((progress: ImportProgress) => void) | undefined;
  /** Gives it up; nothing is changed then. */
  signal?: AbortSignal | undefined;
}

/** The bytes of a file, part by part. */
export class FileParts {
  readonly #reader: ReadableStreamDefaultReader<unknown>;
  /** Reject when there is no use in reading on. */
  readonly #ends: Promise<never>[] = [];

  /** @throws {OptionError} for what is no source of bytes. */
  constructor(source: unknown, signal: AbortSignal | undefined) {
    this.#reader = streamOf(source).getReader();
    if (!signal) return;
    const aborted = new Promise<never>((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    this.#add(aborted);
  }

  /** Reads on only until this is settled. */
  endWith(answer: unknown): void {
    const ended = Promise.resolve(answer).then(() => new Promise<never>(() => undefined));
    this.#add(ended);
  }

  /** The next bytes, `undefined` at the end. */
  async next(): Promise<Uint8Array | undefined> {
    const { value, done } = await Promise.race([this.#reader.read(), ...this.#ends]);
    if (done) return undefined;
    if (value instanceof Uint8Array) return value;
    throw notBytes();
  }

  /** Nothing more is read. */
  end(): void {
    // Whatever the source says to that, it is of no use any more.
    this.#reader.cancel().catch(() => undefined);
  }

  #add(end: Promise<never>): void {
    // It counts while something is being read.
    end.catch(() => undefined);
    this.#ends.push(end);
  }
}

function streamOf(source: unknown): ReadableStream<unknown> {
  const { stream, getReader, locked } = (source ?? {}) as Partial<Blob & ReadableStream<unknown>>;
  if (typeof stream === 'function') return (source as Blob).stream();
  if (typeof getReader === 'function' && !locked) return source as ReadableStream<unknown>;
  throw notBytes();
}

function notBytes(): OptionError {
  return new OptionError(
    'option_invalid',
    'A file is read from a ReadableStream of Uint8Array that nobody else reads, or from a File or Blob.',
    { place: 'stream' },
  );
}
