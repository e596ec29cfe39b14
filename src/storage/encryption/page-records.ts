import type { StorageKey } from '../drivers/driver.ts';
import { ByteBuffer } from '../opfs/values/byte-buffer.ts';
import { addValue, readValue } from '../opfs/values/value-bytes.ts';
import { type Bytes, SEALED, unseal } from './sealing.ts';

const NO_BLOBS = new Map<Blob, Bytes>();

/** The bytes of a recovery record. @throws {UnreadBlob}: a page that ends cannot read Blobs. */
export function pageRecordBytes(record: object): Bytes {
  const buffer = new ByteBuffer();
  addValue(buffer, record, NO_BLOBS);
  return buffer.written;
}

/** Where a recovery record or an unload journal is, for the seal. */
export function pageRecordPlace(key: StorageKey): string {
  return JSON.stringify(['recovery', ...key]);
}

/** Opens what a page sealed as it ended. @throws {Error} for anything else. */
export async function openPageRecord(
  pages: CryptoKey,
  key: StorageKey,
  sealed: Bytes,
): Promise<object> {
  return readValue(await unseal(pages, SEALED.page, sealed, pageRecordPlace(key)));
}
