import type { StorageKey, StoreName } from '../drivers/driver.ts';
import { ByteBuffer } from '../opfs/values/byte-buffer.ts';
import { type BlobContents, withBlobs } from '../opfs/values/exact-parts.ts';
import { addValue, readValue } from '../opfs/values/value-bytes.ts';
import { type PendingSeal, pendingSeal } from './sealed-operations.ts';
import { type Bytes, SEALED, sealBytes, unseal } from './sealing.ts';

export interface SealedValue {
  readonly sealed: Bytes;
  /** Its key in storage, which a listing of values does not tell. The seal holds for no other. */
  readonly key: StorageKey;
}

/** An opened value, with the name that its key has a code for. */
export interface OpenedValue {
  readonly name: string | number;
  readonly value: object;
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Turns values into sealed bytes: the length of the name, the name as JSON, the value. */
export class SealedValues {
  readonly #key: CryptoKey;
  readonly #buffer = new ByteBuffer();

  constructor(key: CryptoKey) {
    this.#key = key;
  }

  /**
   * Begins to seal a value, which is encoded at once.
   *
   * @param name What the key has a code for.
   * @param coded The key in storage.
   */
  put(
    store: StoreName,
    name: string | number,
    coded: Promise<StorageKey>,
    value: object,
  ): PendingSeal {
    const encoded = withBlobs((blobs) => this.#encode(name, value, blobs));
    const size = encoded instanceof Uint8Array ? encoded.length : undefined;
    return pendingSeal(size, async () => {
      const [key, bytes] = await Promise.all([coded, encoded]);
      const sealed = await sealBytes(this.#key, SEALED.value, bytes, placeOf(store, key));
      const stored: SealedValue = { sealed, key };
      return { type: 'put', store, key, size: bytes.length, value: stored };
    });
  }

  /** @throws {Error} unless it was sealed for this place with this key. */
  async open(store: StoreName, key: StorageKey, stored: unknown): Promise<OpenedValue> {
    const { sealed } = stored as SealedValue;
    const bytes = await unseal(this.#key, SEALED.value, sealed, placeOf(store, key));
    const length = new DataView(bytes.buffer).getUint32(0, true);
    const name = JSON.parse(decoder.decode(bytes.subarray(4, 4 + length)));
    return { name, value: readValue(bytes.subarray(4 + length)) };
  }

  #encode(name: string | number, value: object, blobs: BlobContents): Bytes {
    const buffer = this.#buffer;
    buffer.clear();
    const at = buffer.skip(4);
    const length = buffer.addText(JSON.stringify(name));
    buffer.view.setUint32(at, length, true);
    addValue(buffer, value, blobs);
    return buffer.written.slice();
  }
}

function placeOf(store: StoreName, key: StorageKey): string {
  return JSON.stringify([store, ...key]);
}
