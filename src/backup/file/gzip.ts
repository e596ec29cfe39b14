import { damaged, notGzip, truncated, unsupported } from './file-errors.ts';
import { joinBytes } from './join-bytes.ts';
import { throughStream } from './through-stream.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Least bytes of a chunk that goes out: browsers make pieces of 16 kB and less. */
const OUTPUT = 64 * 1024;

/**
 * Most bytes put in at once. Browsers keep all that one write unpacks to, and deflate makes up to a thousand
 * bytes of one: so this bounds what a hostile file takes to 17 MB.
 */
const INPUT = 16 * 1024;

/** How gzip begins; the third byte is the only method there is. */
const MAGIC = [0x1f, 0x8b, 0x08];

/** @throws {BackupError} `file_unsupported`. */
export async function* gzip(source: AsyncIterable<Bytes>): AsyncGenerator<Bytes, void> {
  if (typeof CompressionStream !== 'function') throw unsupported('CompressionStream');
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
  if (typeof DecompressionStream !== 'function') throw unsupported('DecompressionStream');
  yield* throughStream(cut(source), new DecompressionStream('gzip'), (cause, complete) => {
    // Node tells of damage at the end only, with a code of zlib.
    const { code } = cause as { code?: unknown };
    if (complete && (code === undefined || code === 'Z_BUF_ERROR')) return truncated(cause);
    return damaged('the gzip data', 'it cannot be unpacked', cause);
  });
}

async function* cut(source: AsyncIterable<Uint8Array>): AsyncGenerator<Bytes, void> {
  let seen = 0;
  for await (const bytes of source) {
    if (!(bytes instanceof Uint8Array)) throw notGzip('What was given has no bytes');
    for (let at = 0; seen < MAGIC.length && at < bytes.length; at++) {
      if (bytes[at] !== MAGIC[seen++]) throw notGzip('This is no gzip file');
    }
    // Copied, so that their owner may use the memory again.
    for (let at = 0; at < bytes.length; at += INPUT) yield bytes.slice(at, at + INPUT) as Bytes;
  }
  if (seen === 0) throw truncated();
}
