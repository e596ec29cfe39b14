import { webCrypto } from './encryption-errors.ts';

export type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes of a nonce of AES-GCM. */
export const NONCE_LENGTH = 12;

/** What is sealed, as the first byte: another kind never passes for it. */
export const SEALED = { value: 1, page: 2, check: 3, object: 4 } as const;

export type SealedKind = (typeof SEALED)[keyof typeof SEALED];

const encoder = new TextEncoder();

/** AES-256-GCM; the tag of 16 bytes is at the end. */
export async function encryptGcm(
  key: CryptoKey,
  iv: Bytes,
  bytes: Bytes,
  additionalData: Bytes,
): Promise<Bytes> {
  const algorithm = { name: 'AES-GCM', iv, additionalData };
  return new Uint8Array(await webCrypto().encrypt(algorithm, key, bytes));
}

/** @throws {DOMException} where key, nonce, bytes and additional data do not belong together. */
export async function decryptGcm(
  key: CryptoKey,
  iv: Bytes,
  bytes: Bytes,
  additionalData: Bytes,
): Promise<Bytes> {
  const algorithm = { name: 'AES-GCM', iv, additionalData };
  return new Uint8Array(await webCrypto().decrypt(algorithm, key, bytes));
}

/** The additional data of a value: where it is. Moved elsewhere, it does not open. */
export function placeBytes(kind: SealedKind, place: string): Bytes {
  return encoder.encode(`cairn 1 ${kind} ${place}`);
}

/**
 * Seals bytes with a random nonce: `kind | nonce | ciphertext | tag`. A key may seal 2^32 values
 * (NIST SP 800-38D, 8.3).
 */
export async function sealBytes(
  key: CryptoKey,
  kind: SealedKind,
  bytes: Bytes,
  place: string,
): Promise<Bytes> {
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_LENGTH));
  return join(kind, nonce, await encryptGcm(key, nonce, bytes, placeBytes(kind, place)));
}

/** What {@link sealBytes} returns, of its parts. */
export function join(kind: SealedKind, nonce: Uint8Array, ciphertext: Uint8Array): Bytes {
  const sealed = new Uint8Array(1 + NONCE_LENGTH + ciphertext.length);
  sealed[0] = kind;
  sealed.set(nonce, 1);
  sealed.set(ciphertext, 1 + NONCE_LENGTH);
  return sealed;
}

/** @throws {Error} unless the bytes were sealed by the key, as this kind, for this place. */
export async function unseal(
  key: CryptoKey,
  kind: SealedKind,
  sealed: Bytes,
  place: string,
): Promise<Bytes> {
  if (sealed[0] !== kind) throw new TypeError('It is sealed as something else.');
  const nonce = sealed.subarray(1, 1 + NONCE_LENGTH);
  return decryptGcm(key, nonce, sealed.subarray(1 + NONCE_LENGTH), placeBytes(kind, place));
}
