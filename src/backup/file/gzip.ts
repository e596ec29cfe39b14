import { fileUnsupported } from '../../codec/exact-json/json-checks.ts';
import { fileDamaged, notGzip, truncated } from './file-errors.ts';

/** Least bytes of an output chunk: browsers make chunks of 16 kB and less. */
const OUTPUT = 64 * 1024;

/**
 * Most bytes of one write. Browsers buffer the whole output of one write, up to a thousand times as
 * much: this limits a hostile file to 17 MB of memory.
 */
const INPUT = 16 * 1024;

/** The first bytes of gzip; the third names deflate, the only method. */
const MAGIC = [0x1f, 0x8b, 0x08];

/** @throws {BackupError} `file_unsupported`. */
export async function* gzip(source: AsyncIterable<Bytes>): AsyncGenerator<Bytes, void> {
  if (typeof CompressionStream !== 'function') throw fileUnsupported('CompressionStream');
  const stream = new CompressionStream('gzip');
  let parts: Bytes[] = [];
  let size = 0;
  for await (const bytes of throughStream(source, stream, (cause) => cause)) {
    parts.push(bytes);
    size += bytes.length;
    if (size < OUTPUT) continue;
    yield joinBytes(parts, size);
    parts = [];
    size = 0;
  }
  if (size > 0) yield joinBytes(parts, size);
}

/** @throws {BackupError} `file_not_gzip`, `file_truncated`, `file_damaged`, `file_unsupported`. */
export async function* gunzip(source: AsyncIterable<Uint8Array>): AsyncGenerator<Bytes, void> {
  if (typeof DecompressionStream !== 'function') throw fileUnsupported('DecompressionStream');
  yield* throughStream(slices(source), new DecompressionStream('gzip'), (cause, complete) => {
    // Node reports damage only at the end, with a code of zlib.
    const { code } = cause as { code?: unknown };
    if (complete && (code === undefined || code === 'Z_BUF_ERROR')) return truncated(cause);
    return fileDamaged('the gzip data', 'it cannot be unpacked', cause);
  });
}

async function* slices(source: AsyncIterable<Uint8Array>): AsyncGenerator<Bytes, void> {
  let seen = 0;
  for await (const bytes of source) {
    if (!(bytes instanceof Uint8Array)) throw notGzip('The source gave no bytes');
    for (let at = 0; seen < MAGIC.length && at < bytes.length; at++) {
      if (bytes[at] !== MAGIC[seen++]) throw notGzip('This is no gzip file');
    }
    // Copied, because the caller may reuse the memory.
    for (let at = 0; at < bytes.length; at += INPUT) yield bytes.slice(at, at + INPUT) as Bytes;
  }
  if (seen === 0) throw truncated();
}

/** A `CompressionStream` or `DecompressionStream`. */
interface ByteStream {
  readonly writable: WritableStream<BufferSource>;
  readonly readable: ReadableStream<Bytes>;
}

/** How feeding a source into a stream ended. */
type Fed =
  | { readonly by: 'end' }
  /** The error, and where it came from; `close`: the stream failed after its last byte. */
  | { readonly by: 'source' | 'write' | 'close'; readonly cause: unknown };

/**
 * Pipes bytes through a stream with backpressure. In every case the source is ended and the stream
 * released. Errors of the source come out as they are.
 *
 * `pipeThrough` cannot tell an error of the source from one of the stream, nor damaged bytes from
 * missing ones.
 *
 * @param explain The error to throw when the stream fails; `complete`: after its last byte.
 */
async function* throughStream(
  source: AsyncIterable<Bytes>,
  stream: ByteStream,
  explain: (cause: unknown, complete: boolean) => unknown,
): AsyncGenerator<Bytes, void> {
  const reader = stream.readable.getReader();
  const writer = stream.writable.getWriter();
  const feeding = feed(source, writer);
  let failure: { cause: unknown } | undefined;
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } catch (cause) {
    failure = { cause };
  } finally {
    // In this order: a pending write waits until its output is read or the readable is cancelled.
    await Promise.allSettled([reader.cancel()]);
    await Promise.allSettled([writer.abort(), feeding]);
  }
  const fed = await feeding;
  if (fed.by === 'source') throw fed.cause;
  if (failure) throw explain(failure.cause, fed.by === 'close');
}

async function feed(
  source: AsyncIterable<Bytes>,
  writer: WritableStreamDefaultWriter<BufferSource>,
): Promise<Fed> {
  try {
    for await (const bytes of source) {
      try {
        await writer.write(bytes);
      } catch (cause) {
        return { by: 'write', cause };
      }
    }
  } catch (cause) {
    await Promise.allSettled([writer.abort(cause)]);
    return { by: 'source', cause };
  }
  try {
    await writer.close();
    return { by: 'end' };
  } catch (cause) {
    return { by: 'close', cause };
  }
}

type Bytes = Uint8Array<ArrayBuffer>;

/** @param size Of all parts together. */
export function joinBytes(parts: readonly Bytes[], size: number): Bytes {
  const [only] = parts;
  if (only?.length === size) return only;
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
