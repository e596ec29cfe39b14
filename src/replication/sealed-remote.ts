import { fromBase64, toBase64, toHex } from '../codec/exact-json/base64.ts';
import { Malformed } from '../codec/exact-json/json-checks.ts';
import { StorageError } from '../errors/errors.ts';
import { ReplicationError } from '../errors/replication-error.ts';
import { encodeRows } from './fetching/push-batches.ts';
import { sameContent } from './merge-fields.ts';
import type {
  LocalChange,
  PulledPage,
  PushResult,
  Remote,
  RemoteChange,
} from './protocol/remote.ts';
import { decodeDocument, encodeDocument } from './protocol/wire-documents.ts';

/** The field of a document that the server cannot read. */
const SEALED = '_sealed';

const NONCE_LENGTH = 12;

/** Format, key id, life, revision, and base64 of nonce, ciphertext and tag. */
const FORMAT = /^1\.([\da-f]{16})\.([\w-]{1,12})\.(\d{1,10})\.([\w+/=]+)$/;

/** The option `encrypt` with its defaults. */
interface SealingSettings {
  /** Names the collection: its documents do not open in another one. */
  readonly collection: string;
  readonly keys: readonly (Uint8Array | CryptoKey)[];
  readonly clear: readonly string[];
}

interface Key {
  /** Tells the server which documents have one key, and nothing of the key. */
  readonly id: string;
  readonly key: CryptoKey;
}

/**
 * Numbers the states of one document: `life` is that of its first push, so that a document that is
 * deleted and made anew begins again.
 */
interface Place {
  readonly id: string;
  readonly life: string;
  readonly revision: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** See `sealed()`. */
export class SealedRemote implements Remote<string> {
  readonly id: string;
  readonly #remote: Remote<string>;
  readonly #settings: SealingSettings;
  readonly #keys: readonly Key[];

  private constructor(remote: Remote<string>, settings: SealingSettings, keys: readonly Key[]) {
    this.id = remote.id;
    this.#remote = remote;
    this.#settings = settings;
    this.#keys = keys;
  }

  /** @throws {StorageError} `encryption_unavailable` */
  static async open(remote: Remote<string>, settings: SealingSettings): Promise<SealedRemote> {
    const { keys, collection } = settings;
    return new SealedRemote(
      remote,
      settings,
      await Promise.all(keys.map((key) => derivedKey(key, collection))),
    );
  }

  async pull(...ask: Parameters<Remote<string>['pull']>): Promise<PulledPage<string>> {
    const page = await this.#remote.pull(...ask);
    return { ...page, changes: await Promise.all(page.changes.map((one) => this.#opened(one))) };
  }

  async push(
    rows: readonly LocalChange[],
    ask: Parameters<Remote<string>['push']>[1],
  ): Promise<PushResult[]> {
    const { sendable, results } = encodeRows(rows, ({ document }) =>
      document ? JSON.stringify(encodeDocument(document)) : undefined,
    );
    const sent = await Promise.all(
      sendable.map(async ({ index, wire, row: { id, base, key, document } }) => {
        const known = base === undefined ? undefined : readNumbered(base);
        const { life = lifeOf(key), revision = 0, version = base } = known ?? {};
        const place = { id, life, revision: revision + 1 };
        const box = document && (await this.#seal(document as Fields, wire as string, place));
        return { index, place, row: { id, base: version, key, document: box } };
      }),
    );
    const sealed = sent.map(({ row }) => row);
    const answers = sealed.length > 0 ? await this.#remote.push(sealed, ask) : [];
    await Promise.all(
      sent.map(async ({ index, place, row }, at) => {
        results[index] = await this.#result(row, place, answers[at] as PushResult);
      }),
    );
    return results;
  }

  async #result(row: LocalChange, place: Place, result: PushResult): Promise<PushResult> {
    if ('conflict' in result) return { conflict: await this.#opened(result.conflict) };
    if ('rejected' in result) return result;
    const { version, document } = result;
    if (document) {
      const { id: _, ...stored } = await this.#opened({ id: place.id, version, document });
      return stored;
    }
    return row.document && document === undefined
      ? { version: numberedVersion(place, version) }
      : result;
  }

  async #opened<T extends RemoteChange>(change: T): Promise<T> {
    const { id, version, document } = change;
    if (!document) return change;
    const { revision, life, content } = await this.#open(id, document as Fields);
    return { ...change, version: numberedVersion({ life, revision }, version), document: content };
  }

  async #seal(document: Fields, json: string, place: Place): Promise<object> {
    const { id, key } = this.#keys[0] as Key;
    const plain = new TextEncoder().encode(json);
    const nonce = crypto.getRandomValues(new Uint8Array(NONCE_LENGTH));
    const sealed = await crypto.subtle.encrypt(this.#algorithm(nonce, place), key, plain);
    const ciphertext = new Uint8Array(sealed);
    const box = new Uint8Array(NONCE_LENGTH + ciphertext.length);
    box.set(nonce);
    box.set(ciphertext, NONCE_LENGTH);
    return {
      _id: place.id,
      ...this.#clearOf(document),
      [SEALED]: `1.${id}.${place.life}.${place.revision}.${toBase64(box)}`,
    };
  }

  /** @throws {ReplicationError} `key_unknown`, `seal_broken` */
  async #open(id: string, stored: Fields): Promise<Omit<Place, 'id'> & { content: object }> {
    const text = Object.hasOwn(stored, SEALED) ? stored[SEALED] : undefined;
    if (typeof text !== 'string') throw sealBroken(id, 'it is not encrypted');
    const [, keyId, life = '', number, box = ''] = FORMAT.exec(text) ?? [];
    if (keyId === undefined) throw sealBroken(id, 'its format is not known');
    const known = this.#keys.find((one) => one.id === keyId);
    if (!known) throw keyUnknown(id, keyId);
    const revision = Number(number);
    let content: object;
    try {
      const bytes = fromBase64(box);
      const [nonce, ciphertext] = [bytes.subarray(0, NONCE_LENGTH), bytes.subarray(NONCE_LENGTH)];
      const algorithm = this.#algorithm(nonce, { id, life, revision });
      const plain = await crypto.subtle.decrypt(algorithm, known.key, ciphertext);
      content = decodeDocument(JSON.parse(new TextDecoder().decode(plain)), id);
    } catch (cause) {
      const why = cause instanceof Malformed ? cause.message : 'it was changed, cut or swapped';
      throw sealBroken(id, why, cause);
    }
    const { _id, [SEALED]: _, ...clear } = stored;
    if (!sameContent(clear, this.#clearOf(content as Fields, Object.keys(clear))))
      throw sealBroken(id, 'its readable fields were changed');
    return { life, revision, content };
  }

  /** The fields that the server can read; devices that had other options chose others. */
  #clearOf(document: Fields, names: readonly string[] = this.#settings.clear): Fields {
    const given = names.filter((name) => Object.hasOwn(document, name));
    return Object.fromEntries(given.map((name) => [name, document[name]]));
  }

  #algorithm(iv: Uint8Array<ArrayBuffer>, { id, life, revision }: Place): AesGcmParams {
    const place = ['cairn document 1', this.#settings.collection, id, life, revision];
    const additionalData = new TextEncoder().encode(JSON.stringify(place));
    return { name: 'AES-GCM', iv, additionalData };
  }
}

/**
 * A version with the numbers of its state before it, so that the engine notices an older one
 * (`isEarlier` in engine/replication/held-version.ts). Other versions have printable characters
 * only.
 */
function numberedVersion({ life, revision }: Omit<Place, 'id'>, version: string): string {
  return `\u0001${life.padEnd(12)}${`${revision}`.padStart(10, '0')}${version}`;
}

/** `undefined` for a version without numbers: that of a deletion. */
function readNumbered(text: string) {
  if (!text.startsWith('\u0001')) return undefined;
  const [life, revision] = [text.slice(1, 13).trimEnd(), Number(text.slice(13, 23))];
  return { life, revision, version: text.slice(23) };
}

/** Its first push names the life of a document: a repeated one must name the same. */
function lifeOf(key: string): string {
  return key.replace(/[^\w-]/g, '').slice(-12) || '0';
}

/** A key for the documents of one collection, and its id. */
async function derivedKey(given: Uint8Array | CryptoKey, collection: string): Promise<Key> {
  const { subtle } = globalThis.crypto as Partial<Crypto>;
  // As where a database is encrypted, whose code need not load here.
  if (!subtle)
    throw new StorageError(
      'encryption_unavailable',
      'Encryption needs crypto.subtle: serve the page by https, or from localhost.',
    );
  const usages: KeyUsage[] = ['deriveKey', 'deriveBits'];
  const base =
    given instanceof Uint8Array
      ? await subtle.importKey('raw', given as BufferSource, 'HKDF', false, usages)
      : given;
  const use = (name: string) => ({
    ...{ name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array() },
    info: new TextEncoder().encode(JSON.stringify(['cairn replication 1', name, collection])),
  });
  const aes = { name: 'AES-GCM', length: 256 };
  const [id, key] = await Promise.all([
    subtle.deriveBits(use('id'), base, 64),
    subtle.deriveKey(use('documents'), base, aes, false, ['encrypt', 'decrypt']),
  ]);
  return { id: toHex(new Uint8Array(id)), key };
}

function sealBroken(id: string, why: string, cause?: unknown): ReplicationError {
  return new ReplicationError(
    'seal_broken',
    `Document "${id}" of the server does not open: ${why}. Nothing of its page was applied. Restore it on the server, or delete it there.`,
    { place: id, cause },
  );
}

function keyUnknown(id: string, key: string): ReplicationError {
  return new ReplicationError(
    'key_unknown',
    `Document "${id}" of the server was encrypted with the key ${key}, which is none of encrypt.key. Nothing of its page was applied. Add that key to the list.`,
    { place: id },
  );
}
