import type { StorageKey } from '../drivers/driver.ts';
import { webCrypto } from './encryption-errors.ts';

/** Characters of a code of 128 bits: two names never have the same. */
const CODE_LENGTH = 22;

const encoder = new TextEncoder();

/**
 * Stands for names in the keys of storage: HMAC-SHA-256 of the name, cut to 128 bits. Only the
 * first item of a key is a name; numbers behind it stay, so that storage keeps their order.
 */
export class NameCodes {
  readonly #key: CryptoKey;
  readonly #known = new Map<string | number, Promise<string>>();

  constructor(key: CryptoKey) {
    this.#key = key;
  }

  /** The key with a code instead of its name. */
  async coded(key: StorageKey): Promise<StorageKey> {
    const [name, ...rest] = key;
    return name === undefined ? key : [await this.codeOf(name), ...rest];
  }

  codeOf(name: string | number): Promise<string> {
    const code = this.#known.get(name) ?? this.#make(name);
    this.#known.set(name, code);
    return code;
  }

  async #make(name: string | number): Promise<string> {
    // As JSON: lone surrogates would all become the same bytes.
    const content = encoder.encode(JSON.stringify(name));
    const signed = new Uint8Array(await webCrypto().sign('HMAC', this.#key, content));
    const text = btoa(String.fromCharCode(...signed))
      .replaceAll('+', '-')
      .replaceAll('/', '_');
    return text.slice(0, CODE_LENGTH);
  }
}
