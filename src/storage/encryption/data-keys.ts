import { webCrypto } from './encryption-errors.ts';
import { type Bytes, decryptGcm, encryptGcm, NONCE_LENGTH } from './sealing.ts';

export interface DataKeys {
  /** Seals values. */
  readonly values: CryptoKey;
  /** Makes codes of names. */
  readonly names: CryptoKey;
  /** Makes proofs of the key for leaders in other tabs. */
  readonly proofs: CryptoKey;
  /** Opens unload journals and recovery records. */
  readonly pages: CryptoKey;
  /** The bytes of `pages`, for the synchronous cipher of a page that ends. */
  readonly pageBytes: Bytes;
}

const encoder = new TextEncoder();
const LENGTH = 32;

export function newDataKey(): Bytes {
  return crypto.getRandomValues(new Uint8Array(LENGTH));
}

/** Derives all keys, and forgets the data key: its bytes are overwritten. */
export async function deriveKeys(dataKey: Bytes): Promise<DataKeys> {
  const subtle = webCrypto();
  const base = await subtle
    .importKey('raw', dataKey, 'HKDF', false, ['deriveKey', 'deriveBits'])
    .finally(() => dataKey.fill(0));
  const use = (info: string) => ({
    ...{ name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0) },
    info: encoder.encode(`cairn ${info} 1`),
  });
  const aes = { name: 'AES-GCM', length: 256 };
  const hmac = { name: 'HMAC', hash: 'SHA-256', length: 256 };
  const [values, names, proofs, pages, pageBits] = await Promise.all([
    subtle.deriveKey(use('values'), base, aes, false, ['encrypt', 'decrypt']),
    subtle.deriveKey(use('names'), base, hmac, false, ['sign']),
    subtle.deriveKey(use('proofs'), base, hmac, false, ['sign', 'verify']),
    subtle.deriveKey(use('pages'), base, aes, false, ['encrypt', 'decrypt']),
    subtle.deriveBits(use('pages'), base, 256),
  ]);
  return { values, names, proofs, pages, pageBytes: new Uint8Array(pageBits) };
}

/**
 * Wraps a data key: by AES-KW (RFC 3394), or by AES-GCM with a random nonce before the ciphertext.
 */
export async function wrapDataKey(key: CryptoKey, dataKey: Bytes, place: string): Promise<Bytes> {
  const subtle = webCrypto();
  const isKw = key.algorithm.name === 'AES-KW';
  const nonce = isKw ? new Uint8Array(0) : crypto.getRandomValues(new Uint8Array(NONCE_LENGTH));
  let wrapped: Uint8Array;
  if (key.usages.includes('encrypt'))
    wrapped = await encryptGcm(key, nonce, dataKey, encoder.encode(place));
  else {
    const carrier = await subtle.importKey('raw', dataKey, 'AES-GCM', true, ['encrypt']);
    const algorithm = algorithmOf(isKw, nonce, place);
    wrapped = new Uint8Array(await subtle.wrapKey('raw', carrier, key, algorithm));
  }
  const joined = new Uint8Array(nonce.length + wrapped.length);
  joined.set(nonce);
  joined.set(wrapped, nonce.length);
  return joined;
}

/** @throws {DOMException} for another key or place. */
export async function unwrapDataKey(key: CryptoKey, bytes: Bytes, place: string): Promise<Bytes> {
  const subtle = webCrypto();
  const isKw = key.algorithm.name === 'AES-KW';
  const nonce = bytes.slice(0, isKw ? 0 : NONCE_LENGTH);
  const wrapped = bytes.slice(nonce.length);
  if (key.usages.includes('decrypt')) return decryptGcm(key, nonce, wrapped, encoder.encode(place));
  const algorithm = algorithmOf(isKw, nonce, place);
  const carrier = await subtle.unwrapKey('raw', wrapped, key, algorithm, 'AES-GCM', true, [
    'encrypt',
  ]);
  return new Uint8Array(await subtle.exportKey('raw', carrier));
}

function algorithmOf(isKw: boolean, iv: Bytes, place: string): AesGcmParams | string {
  return isKw ? 'AES-KW' : { name: 'AES-GCM', iv, additionalData: encoder.encode(place) };
}
