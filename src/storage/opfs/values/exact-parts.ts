import { decodeExact } from '../../../codec/exact-json/exact-decoding.ts';
import { type Binary, encodeExactTree, notText } from '../../../codec/exact-json/exact-encoding.ts';
import type { ByteBuffer } from './byte-buffer.ts';

type Bytes = Uint8Array<ArrayBuffer>;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The content of Blobs, which can only be read asynchronously. */
export type BlobContents = ReadonlyMap<Blob, Bytes>;

/** Thrown where a Blob has not been read yet. */
class UnreadBlob extends Error {
  readonly blob: Blob;

  constructor(blob: Blob) {
    super('The content of a Blob is not read yet.');
    this.blob = blob;
  }
}

/** Encodes values: at once, or when the Blobs that it meets are read. */
export function withBlobs<T>(
  encode: (blobs: BlobContents) => T,
  read = new Map<Blob, Bytes>(),
): T | Promise<T> {
  try {
    return encode(read);
  } catch (error) {
    if (!(error instanceof UnreadBlob)) throw error;
    const { blob } = error;
    return blob.arrayBuffer().then((content) => {
      read.set(blob, new Uint8Array(content));
      return withBlobs(encode, read);
    });
  }
}

/**
 * Appends a value of any kind: the length of its JSON, the JSON, then its binary data, which the
 * JSON names by offset and length.
 *
 * @throws {UnreadBlob}
 */
export function addExact(buffer: ByteBuffer, value: unknown, blobs: BlobContents): void {
  const binaries: Bytes[] = [];
  let size = 0;
  const place = (binary: Binary): string => {
    const bytes = contentOf(binary, blobs);
    const at = size;
    binaries.push(bytes);
    size += bytes.length;
    return `${at}+${bytes.length}`;
  };
  const json = JSON.stringify(encodeExactTree(value, Number.POSITIVE_INFINITY, place));
  const at = buffer.skip(4);
  const length = buffer.addText(json);
  // Behind the text, which may have moved the buffer.
  buffer.view.setUint32(at, length, true);
  for (const bytes of binaries) buffer.add(bytes);
}

/** Reads what {@link addExact} has appended. @throws on anything else. */
export function readExact(bytes: Bytes): unknown {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const binaries = bytes.subarray(4 + length);
  const take = (range: unknown): Bytes => {
    const [at = 0, size = 0] = String(range).split('+').map(Number);
    // A copy: its buffer is handed out.
    return binaries.slice(at, at + size);
  };
  return decodeExact(JSON.parse(decoder.decode(bytes.subarray(4, 4 + length))), {
    takeBytes: take,
    takeParts: (range) => [take(range)],
  });
}

function contentOf(binary: Binary, blobs: BlobContents): Bytes {
  if (binary instanceof Uint8Array) return binary as Bytes;
  if (!(binary instanceof Blob)) throw notText(binary);
  const content = blobs.get(binary);
  if (!content) throw new UnreadBlob(binary);
  return content;
}
