import { fileUnsupported } from '../../errors/backup-error.ts';
import { fileDamaged, notGzip, truncated } from './file-errors.ts';
import { joinBytes } from './join-bytes.ts';
import { throughStream } from './through-stream.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Least bytes of an output chunk: browsers make chunks of 16 kB and less. */
const OUTPUT = 64 * 1024;

/**
 * Most bytes of one write. Browsers buffer the whole output of one write, up to a thousand times as much: this limits
 * a hostile file to 17 MB of memory.
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
