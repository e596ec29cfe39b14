import { fromBase64, toBase64, toHex } from '../codec/exact-json/base64.ts';
import { StorageError } from '../errors/errors.ts';

/** A key of a collection: it seals documents, and others are derived from it. */
export interface CollectionKey {
  /** Tells the server which documents have one key, and nothing of the key. */
  readonly id: string;
  readonly documents: CryptoKey;
  /** The given one, which HKDF derives keys from. */
  readonly base: CryptoKey;
}

const BLOCK_BYTES = 16;
const USAGES: KeyUsage[] = ['deriveKey', 'deriveBits'];

/** @throws {StorageError} `encryption_unavailable` */
async function baseOf(given: Uint8Array | CryptoKey): Promise<CryptoKey> {
  const { subtle } = globalThis.crypto as Partial<Crypto>;
  // As where a database is encrypted, whose code need not load here.
  if (!subtle)
    throw new StorageError(
      'encryption_unavailable',
      'Encryption needs crypto.subtle: serve the page by https, or from localhost.',
    );
  return given instanceof Uint8Array
    ? subtle.importKey('raw', given as BufferSource, 'HKDF', false, USAGES)
    : given;
}

function use(...names: readonly string[]): HkdfParams {
  const info = new TextEncoder().encode(JSON.stringify(['cairn replication 1', ...names]));
  return { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info };
}

/** A key for the documents of one collection, and its id. */
export async function collectionKey(
  given: Uint8Array | CryptoKey,
  collection: string,
): Promise<CollectionKey> {
  const base = await baseOf(given);
  const { subtle } = crypto;
  const aes = { name: 'AES-GCM', length: 256 };
  const [id, documents] = await Promise.all([
    subtle.deriveBits(use('id', collection), base, 64),
    subtle.deriveKey(use('documents', collection), base, aes, false, ['encrypt', 'decrypt']),
  ]);
  return { id: toHex(new Uint8Array(id)), documents, base };
}

/**
 * Encrypts bytes of a file, from one on, or decrypts them: AES-CTR, which seeks. Each content has a
 * key of its own, so its counter begins at 0, and the same content is the same for the server.
 */
export async function cryptFile(
  { base }: CollectionKey,
  collection: string,
  sha256: string,
  from: number,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const { subtle } = crypto;
  const aes = { name: 'AES-CTR', length: 256 };
  const key = await subtle.deriveKey(use('file', collection, sha256), base, aes, false, [
    'encrypt',
  ]);
  const counter = new Uint8Array(BLOCK_BYTES);
  new DataView(counter.buffer).setBigUint64(8, BigInt(Math.floor(from / BLOCK_BYTES)));
  const before = from % BLOCK_BYTES;
  let blocks = bytes;
  if (before > 0) {
    blocks = new Uint8Array(before + bytes.length);
    blocks.set(bytes, before);
  }
  const algorithm = { name: 'AES-CTR', counter, length: 64 };
  return new Uint8Array(await subtle.encrypt(algorithm, key, blocks)).subarray(before);
}

/**
 * Ids that the server cannot read, in one form each: it compares them. The HMAC of an id is the
 * counter that encrypts it (as SIV of RFC 5297), and is compared when it is opened.
 */
export class IdCipher {
  readonly #mac: CryptoKey;
  readonly #key: CryptoKey;

  private constructor(mac: CryptoKey, key: CryptoKey) {
    this.#mac = mac;
    this.#key = key;
  }

  static async open(given: Uint8Array | CryptoKey, collection: string): Promise<IdCipher> {
    const base = await baseOf(given);
    const { subtle } = crypto;
    const hmac = { name: 'HMAC', hash: 'SHA-256', length: 256 };
    const aes = { name: 'AES-CTR', length: 256 };
    return new IdCipher(
      ...(await Promise.all([
        subtle.deriveKey(use('id mac', collection), base, hmac, false, ['sign']),
        subtle.deriveKey(use('id text', collection), base, aes, false, ['encrypt']),
      ])),
    );
  }

  async seal(id: string): Promise<string> {
    // As JSON: half of a surrogate pair has no UTF-8.
    const plain = new TextEncoder().encode(JSON.stringify(id).slice(1, -1));
    const mac = await crypto.subtle.sign('HMAC', this.#mac, plain);
    const counter = new Uint8Array(mac).slice(0, BLOCK_BYTES);
    const text = await this.#crypt(counter, plain);
    const all = new Uint8Array(BLOCK_BYTES + text.length);
    all.set(counter);
    all.set(text, BLOCK_BYTES);
    return toBase64(all).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  }

  /** @throws {Error} for an id that this key has not made. */
  async open(sealed: string): Promise<string> {
    const all = fromBase64(sealed.replaceAll('-', '+').replaceAll('_', '/'));
    const counter = all.slice(0, BLOCK_BYTES);
    const plain = await this.#crypt(counter, all.subarray(BLOCK_BYTES));
    const id = JSON.parse(`"${new TextDecoder().decode(plain)}"`) as string;
    if ((await this.seal(id)) !== sealed) throw new Error('The id has another HMAC.');
    return id;
  }

  async #crypt(counter: Uint8Array<ArrayBuffer>, bytes: Uint8Array<ArrayBuffer>) {
    const algorithm = { name: 'AES-CTR', counter, length: 64 };
    return new Uint8Array(await crypto.subtle.encrypt(algorithm, this.#key, bytes));
  }
}
