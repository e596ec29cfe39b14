import { byteChecksum } from '../integrity/checksum.ts';
import { ByteBuffer } from '../opfs/values/byte-buffer.ts';
import { type BlobContents, withBlobs } from '../opfs/values/exact-parts.ts';
import { addValue, readValue } from '../opfs/values/value-bytes.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes of the checksum before a value: databases do not verify their own when they read. */
const HEAD = 4;

/** Makes bytes of values, one after the other. */
export class ValueEncoder {
  readonly #buffer = new ByteBuffer();

  /** @returns the bytes, valid until the next call. */
  encode(value: object): Bytes | Promise<Bytes> {
    return withBlobs((blobs) => this.#encode(value, blobs));
  }

  #encode(value: object, blobs: BlobContents): Bytes {
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
