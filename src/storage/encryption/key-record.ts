import { fromBase64, toBase64 } from '../../codec/exact-json/base64.ts';
import { StorageError } from '../../errors/errors.ts';
import type { StorageClaim } from '../drivers/driver.ts';
import { ENCRYPTION_KEY } from '../drivers/encryption-key.ts';
import type { StoredEpoch } from '../drivers/epoch.ts';
import { type DataKeys, deriveKeys, newDataKey, unwrapDataKey, wrapDataKey } from './data-keys.ts';
import { keyRecordDamaged, keyWrong } from './encryption-errors.ts';
import { type Bytes, SEALED, sealBytes, unseal } from './sealing.ts';
import { type KeyOrigin, MAX_ROUNDS } from './wrapping-key.ts';

/**
 * Format of key records and sealed values. A higher one in storage is refused with `format_newer`.
 */
const FORMAT = 1;

/** What an encrypted database says of its keys, in clear. */
export interface KeyRecord {
  /** Counts the changes of the key, from 1 on. */
  readonly version: number;
  readonly origin: KeyOrigin;
  readonly wrapped: Bytes;
  /** A constant sealed with the data key: tells a key record that was put together of two. */
  readonly check: Bytes;
}

const CONSTANT = new TextEncoder().encode('cairn');

/** The additional data of the wrapped key: a database under another name does not open. */
const placeOf = (name: string, { kind, rounds }: KeyOrigin): string =>
  JSON.stringify(['cairn key', FORMAT, name, kind, rounds]);

/** Makes a data key, and wraps it. */
export function newKeyRecord(name: string, key: CryptoKey, origin: KeyOrigin): Promise<KeyRecord> {
  return wrap(name, newDataKey(), key, origin, 1);
}

/**
 * The data key under another key. The data stays as it is.
 *
 * @throws {StorageError} `key_wrong`
 */
export async function rewrapped(
  name: string,
  record: KeyRecord,
  key: CryptoKey,
  next: { readonly key: CryptoKey; readonly origin: KeyOrigin },
): Promise<KeyRecord> {
  const dataKey = await unwrap(name, record, key);
  return wrap(name, dataKey, next.key, next.origin, record.version + 1);
}

/** @throws {StorageError} `key_wrong` */
export async function openKeyRecord(
  name: string,
  record: KeyRecord,
  key: CryptoKey,
): Promise<DataKeys> {
  const keys = await deriveKeys(await unwrap(name, record, key));
  try {
    await unseal(keys.values, SEALED.check, record.check, name);
  } catch (cause) {
    throw keyRecordDamaged('its parts do not belong together', cause);
  }
  return keys;
}

/** The write that stores a record. A claim: of two that are put at the same time one is refused. */
export function putKeyRecord(record: KeyRecord): StorageClaim {
  const { version, origin, wrapped, check } = record;
  const content = JSON.stringify({
    format: FORMAT,
    ...{ kind: origin.kind, rounds: origin.rounds, salt: toBase64(origin.salt) },
    ...{ wrapped: toBase64(wrapped), check: toBase64(check) },
  });
  const claim = JSON.stringify([content, checksum(content)]);
  return { type: 'claim', store: 'leadership', key: ENCRYPTION_KEY, epoch: version, claim };
}

/** @throws {StorageError} `data_damaged`, `format_newer` */
export function readKeyRecord(stored: unknown): KeyRecord | undefined {
  if (stored === undefined) return undefined;
  const { epoch: version, claim } = stored as Partial<StoredEpoch>;
  let fields: Record<string, unknown>;
  try {
    const [content, sum] = JSON.parse(claim as string) as [string, number];
    if (sum !== checksum(content)) throw new TypeError('its checksum is another');
    fields = JSON.parse(content) as Record<string, unknown>;
  } catch (cause) {
    throw keyRecordDamaged((cause as Error).message, cause);
  }
  if (fields.format !== FORMAT)
    throw new StorageError(
      'format_newer',
      `The database was encrypted in format ${fields.format}; this version of cairndb knows ${FORMAT}. Update this app.`,
    );
  const { kind, rounds, salt, wrapped, check } = fields as Record<string, string>;
  const origin = { kind, rounds: Number(rounds), salt: fromBase64(salt as string) } as KeyOrigin;
  if (origin.rounds > MAX_ROUNDS) throw keyRecordDamaged('it has too many rounds');
  return {
    ...{ version: version as number, origin },
    ...{ wrapped: fromBase64(wrapped as string), check: fromBase64(check as string) },
  };
}

async function wrap(
  name: string,
  dataKey: Bytes,
  key: CryptoKey,
  origin: KeyOrigin,
  version: number,
): Promise<KeyRecord> {
  const wrapped = await wrapDataKey(key, dataKey, placeOf(name, origin));
  const { values } = await deriveKeys(dataKey);
  const check = await sealBytes(values, SEALED.check, CONSTANT, name);
  return { version, origin, wrapped, check };
}

async function unwrap(name: string, { origin, wrapped }: KeyRecord, key: CryptoKey) {
  try {
    return await unwrapDataKey(key, wrapped, placeOf(name, origin));
  } catch (cause) {
    throw keyWrong('it is not the key, or not that of a database of this name', cause);
  }
}

/** Tells damage from a wrong key. FNV-1a: anybody may compute it. */
function checksum(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}
