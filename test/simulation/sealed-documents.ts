import { createHash } from 'node:crypto';
import { vi } from 'vitest';
// Before the first run: to load code takes real time.
import '../../src/replication/sealed-remote.ts';
import { decodeDocument } from '../../src/codec/exact-json/wire-documents.ts';
import { sealed } from '../../src/replication/late-sealing.ts';
import type { Remote } from '../../src/replication/protocol/remote.ts';
import type { Random } from '../setup/random.ts';

const TAG_BYTES = 16;
const BLOCK_BYTES = 16;
const NONCE_BYTES = 12;

/** A key is a word. */
interface Word {
  readonly word: string;
}

interface Named {
  readonly info: Uint8Array;
}

interface Bound {
  readonly iv: Uint8Array;
  readonly additionalData: Uint8Array;
}

interface Counted {
  readonly counter: Uint8Array;
}

function digestOf(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length} `).update(part);
  return hash.digest();
}

const tagOf = ({ word }: Word, { iv, additionalData }: Bound, plain: Uint8Array) =>
  digestOf(word, iv, additionalData, plain).subarray(0, TAG_BYTES);

/** As AES-CTR: each block has a mask of its own, which depends on its number. */
function masked({ counter }: Counted, { word }: Word, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const first = Buffer.from(counter).readBigUInt64BE(8);
  const made = Uint8Array.from(bytes);
  for (let at = 0; at < made.length; at += BLOCK_BYTES) {
    const block = BigInt.asUintN(64, first + BigInt(at / BLOCK_BYTES));
    const mask = digestOf(word, counter.subarray(0, 8), `${block}`);
    for (let next = at; next < Math.min(at + BLOCK_BYTES, made.length); next++)
      made[next] = (made[next] as number) ^ (mask[next - at] as number);
  }
  return made;
}

/**
 * WebCrypto that takes no time, so that time goes by as the seed has it. A ciphertext is the plain
 * text with a mark of key, nonce and place, or masked.
 */
const simSubtle = {
  importKey: async (_: string, bytes: Uint8Array): Promise<Word> => ({
    word: Buffer.from(bytes).toString('hex'),
  }),
  deriveBits: async ({ info }: Named, { word }: Word, bits: number) =>
    Uint8Array.from(digestOf(word, info).subarray(0, bits / 8)).buffer,
  deriveKey: async ({ info }: Named, { word }: Word): Promise<Word> => ({
    word: digestOf(word, info).toString('hex'),
  }),
  sign: async (_: string, { word }: Word, bytes: Uint8Array) =>
    Uint8Array.from(digestOf(word, bytes)).buffer,
  encrypt: async (place: Bound | Counted, key: Word, plain: Uint8Array) =>
    'counter' in place
      ? masked(place, key, plain).buffer
      : Uint8Array.from(Buffer.concat([plain, tagOf(key, place, plain)])).buffer,
  decrypt: async (place: Bound, key: Word, sealedBytes: Uint8Array) => {
    const plain = sealedBytes.subarray(0, -TAG_BYTES);
    if (!tagOf(key, place, plain).equals(sealedBytes.subarray(-TAG_BYTES)))
      throw new DOMException('The operation failed.', 'OperationError');
    return Uint8Array.from(plain).buffer;
  },
};

/** @returns a function that ends it. */
export function withoutCryptoTime(): () => void {
  const subtle = vi.spyOn(crypto, 'subtle', 'get').mockReturnValue(simSubtle as never);
  return () => subtle.mockRestore();
}

/** What a document of the server says, to those who have all keys. */
export function unsealed(document: object): object {
  const { _sealed } = document as { readonly _sealed?: string };
  if (_sealed === undefined) return document;
  const box = Buffer.from(_sealed.split('.')[4] as string, 'base64');
  const content = JSON.parse(`${box.subarray(NONCE_BYTES, -TAG_BYTES)}`) as { _id: string };
  return decodeDocument(content, content._id);
}

/** The id of a document of the server, as devices have it. */
export function plainId(document: object): string {
  return (unsealed(document) as { readonly _id: string })._id;
}

/**
 * The keys of a run: all pages have both, but some that were opened too early. Ids are encrypted in
 * every other run.
 */
export class SimKeys {
  /** Whether documents are sealed with the second key by now. */
  isRotated = false;
  /** Whether all pages that are opened have all keys. */
  isComplete = false;
  readonly #random: Random;
  readonly #ids: Uint8Array | undefined;

  constructor(random: Random) {
    this.#random = random;
    this.#ids = random.chance(0.5) ? new Uint8Array(32).fill(3) : undefined;
  }

  /** The server as a page with its keys has it. `isEarly`: it has the first key alone. */
  remote(remote: Remote<string>, isEarly: boolean): Remote<string> {
    const [first, second] = [1, 2].map((byte) => new Uint8Array(32).fill(byte));
    const key = isEarly ? [first] : this.isRotated ? [second, first] : [first, second];
    // The server compares groups with scopes.
    return sealed(remote, 'orders', { key: key as Uint8Array[], clear: ['g'], ids: this.#ids });
  }

  /** Whether a page that is opened now lacks a key. */
  isEarly(): boolean {
    return !this.isComplete && this.#random.chance(0.1);
  }
}
