import { byteChecksum } from '../storage/integrity/byte-checksum.ts';
import { ByteBuffer } from '../storage/opfs/values/byte-buffer.ts';
import { UnreadBlob } from '../storage/opfs/values/exact-parts.ts';
import { addValue, readValue } from '../storage/opfs/values/value-bytes.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes of the checksum before a value: LevelDB does not verify its own when it reads. */
const HEAD = 4;

/** Makes bytes of values, one after the other. */
export class ValueEncoder {
  readonly #buffer = new ByteBuffer();

  /** @returns the bytes, valid until the next call. Blobs are read first. */
  async encode(value: object): Promise<Bytes> {
    const blobs = new Map<Blob, Bytes>();
    for (;;) {
      try {
        return this.#encode(value, blobs);
      } catch (error) {
        if (!(error instanceof UnreadBlob)) throw error;
        blobs.set(error.blob, new Uint8Array(await error.blob.arrayBuffer()));
      }
    }
  }

  #encode(value: object, blobs: ReadonlyMap<Blob, Bytes>): Bytes {
    const buffer = this.#buffer;
    buffer.clear();
    buffer.skip(HEAD);
    addValue(buffer, value, blobs);
    buffer.view.setUint32(0, byteChecksum(buffer.written.subarray(HEAD)), true);
    return buffer.written;
  }
}

/** Reads what {@link ValueEncoder} has made; `undefined` where it is damaged. */
export function decodeValue(stored: Uint8Array): object | undefined {
  // A copy where numbers would not be aligned. Never a Buffer: its slices are no copies.
  const { byteOffset, length } = stored;
  const bytes: Bytes =
    byteOffset % 4 === 0
      ? new Uint8Array(stored.buffer as ArrayBuffer, byteOffset, length)
      : new Uint8Array(stored);
  if (length < HEAD) return undefined;
  const content = bytes.subarray(HEAD);
  const sum = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return sum === byteChecksum(content) ? readValue(content) : undefined;
}
