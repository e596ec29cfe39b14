import { fromBase64, toBase64, toHex } from '../codec/exact-json/base64.ts';
import { decodeDocument, encodeDocument } from '../codec/exact-json/wire-documents.ts';
import { Malformed, ValueError } from '../errors/errors.ts';
import { ReplicationError } from '../errors/replication-error.ts';
import { encodeRows } from './fetching/push-batches.ts';
import { sameContent } from './merge-fields.ts';
import { damaged, type FileRef, freeBytes, refsIn, sealedName } from './protocol/files.ts';
import type {
  FileSealing,
  LocalChange,
  PulledPage,
  PushResult,
  Remote,
  RemoteChange,
  RemoteFiles,
} from './protocol/remote.ts';
import { type CollectionKey, collectionKey, cryptFile, IdCipher } from './sealing-keys.ts';

/** The field of a document that the server cannot read. */
const SEALED = '_sealed';

/** Placeholders of the files of a document, as the server knows them: they are rights, too. */
const FILES = '_files';

const NONCE_LENGTH = 12;

/** Format, key id, life, revision, and base64 of nonce, ciphertext and tag. */
const FORMAT = /^1\.([\da-f]{16})\.([\w-]{1,12})\.(\d{1,10})\.([\w+/=]+)$/;

/** The option `encrypt` with its defaults. */
interface SealingSettings {
  /** Names the collection: its documents do not open in another one. */
  readonly collection: string;
  readonly keys: readonly (Uint8Array | CryptoKey)[];
  readonly clear: readonly string[];
  readonly ids: Uint8Array | CryptoKey | undefined;
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
type Bytes = Uint8Array<ArrayBuffer>;

/** See `sealed()`. */
export class SealedRemote implements Remote<string> {
  readonly id: string;
  readonly #remote: Remote<string>;
  readonly #settings: SealingSettings;
  readonly #keys: readonly CollectionKey[];
  readonly #ids: IdCipher | undefined;
  /** Of a remote that has files. */
  readonly files: Required<Omit<RemoteFiles, 'areAttached'>>;

  private constructor(
    remote: Remote<string>,
    settings: SealingSettings,
    keys: readonly CollectionKey[],
    ids: IdCipher | undefined,
  ) {
    this.id = remote.id;
    this.#remote = remote;
    this.#settings = settings;
    this.#keys = keys;
    this.#ids = ids;
    this.files = sealedFiles(remote.files as RemoteFiles, settings.collection, keys);
  }

  /** @throws {StorageError} `encryption_unavailable` */
  static async open(remote: Remote<string>, settings: SealingSettings): Promise<SealedRemote> {
    const { keys, collection, ids } = settings;
    return new SealedRemote(
      remote,
      settings,
      await Promise.all(keys.map((key) => collectionKey(key, collection))),
      ids && (await IdCipher.open(ids, collection)),
    );
  }

  async pull(...ask: Parameters<Remote<string>['pull']>): Promise<PulledPage<string>> {
    const { changes, rejected, ...page } = await this.#remote.pull(...ask);
    const [opened, refused] = await Promise.all([
      Promise.all(changes.map((one) => this.#pulled(one))),
      rejected && Promise.all(rejected.map(async (one) => ({ ...one, id: await this.#idOf(one) }))),
    ]);
    const known = opened.filter((one) => one !== undefined);
    return { ...page, changes: known, ...(refused && { rejected: refused }) };
  }

  /**
   * `undefined` for the deletion of a document that no device can have. It would stay for ever,
   * where somebody without the key has made one and deleted it.
   */
  async #pulled(change: RemoteChange): Promise<RemoteChange | undefined> {
    if (change.document) return this.#opened(change);
    return this.#opened(change).catch(() => undefined);
  }

  async push(
    rows: readonly LocalChange[],
    ask: Parameters<Remote<string>['push']>[1],
  ): Promise<PushResult[]> {
    const { sendable, results } = encodeRows(rows, ({ document }) => {
      if (document) this.#checkClear(document as Fields);
      return document ? JSON.stringify(encodeDocument(document)) : undefined;
    });
    const sent = await Promise.all(
      sendable.map(async ({ index, wire, row: { id, base, key, document, device } }) => {
        const known = base === undefined ? undefined : readNumbered(base);
        const { life = lifeOf(key), revision = 0, version = base } = known ?? {};
        const place = { id, life, revision: revision + 1 };
        const _id = (await this.#ids?.seal(id)) ?? id;
        const box = document && {
          _id,
          ...(await this.#seal(document as Fields, wire as string, place)),
        };
        return { index, place, row: { id: _id, base: version, key, document: box, device } };
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
      const { id: _, ...stored } = await this.#openedAs(place.id, { id: '', version, document });
      return stored;
    }
    return row.document && document === undefined
      ? { version: numberedVersion(place, version) }
      : result;
  }

  async #opened<T extends RemoteChange>(change: T): Promise<T> {
    return this.#openedAs(await this.#idOf(change), change);
  }

  async #openedAs<T extends RemoteChange>(id: string, change: T): Promise<T> {
    const { version, document } = change;
    if (!document) return { ...change, id };
    const { revision, life, content } = await this.#open(id, document as Fields);
    const numbered = numberedVersion({ life, revision }, version);
    return { ...change, id, version: numbered, document: content };
  }

  /** @throws {ReplicationError} `seal_broken` */
  async #idOf({ id }: { readonly id: string }): Promise<string> {
    try {
      return (await this.#ids?.open(id)) ?? id;
    } catch (cause) {
      throw sealBroken(id, 'encrypt.ids has not made its id', cause);
    }
  }

  async #seal(document: Fields, json: string, place: Place): Promise<object> {
    const { id, documents } = this.#keys[0] as CollectionKey;
    const plain = new TextEncoder().encode(json);
    const nonce = crypto.getRandomValues(new Uint8Array(NONCE_LENGTH));
    const sealed = await crypto.subtle.encrypt(this.#algorithm(nonce, place), documents, plain);
    const ciphertext = new Uint8Array(sealed);
    const box = new Uint8Array(NONCE_LENGTH + ciphertext.length);
    box.set(nonce);
    box.set(ciphertext, NONCE_LENGTH);
    const files = filesOf(document);
    return {
      ...this.#clearOf(document),
      ...(files.length > 0 && { [FILES]: files }),
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
    if (!known) throw keyUnknown(`Document "${id}"`, id, keyId);
    const revision = Number(number);
    let content: object;
    try {
      const bytes = fromBase64(box);
      const [nonce, ciphertext] = [bytes.subarray(0, NONCE_LENGTH), bytes.subarray(NONCE_LENGTH)];
      const algorithm = this.#algorithm(nonce, { id, life, revision });
      const plain = await crypto.subtle.decrypt(algorithm, known.documents, ciphertext);
      content = decodeDocument(JSON.parse(new TextDecoder().decode(plain)), id);
    } catch (cause) {
      const why = cause instanceof Malformed ? cause.message : 'it was changed, cut or swapped';
      throw sealBroken(id, why, cause);
    }
    const { _id, [SEALED]: _, [FILES]: files = [], ...clear } = stored;
    if (!sameContent(clear, this.#clearOf(content as Fields, Object.keys(clear))))
      throw sealBroken(id, 'its readable fields were changed');
    if (!sameContent(files, filesOf(content))) throw sealBroken(id, 'its files were changed');
    return { life, revision, content };
  }

  /** The fields that the server can read; devices that had other options chose others. */
  #clearOf(document: Fields, names: readonly string[] = this.#settings.clear): Fields {
    const given = names.filter((name) => Object.hasOwn(document, name));
    return Object.fromEntries(given.map((name) => [name, document[name]]));
  }

  /** @throws {ValueError} for a file in a field that the server reads. */
  #checkClear(document: Fields): void {
    for (const [place, value] of Object.entries(this.#clearOf(document)))
      if (refsIn(value).length > 0)
        throw new ValueError(
          'value_unsupported',
          `"${place}" has a file, and is in encrypt.clear: the server would learn its hash. Move the file to another field.`,
          { place },
        );
  }

  #algorithm(iv: Uint8Array<ArrayBuffer>, { id, life, revision }: Place): AesGcmParams {
    const place = ['cairn document 1', this.#settings.collection, id, life, revision];
    const additionalData = new TextEncoder().encode(JSON.stringify(place));
    return { name: 'AES-GCM', iv, additionalData };
  }
}

/** The files of a server that knows them by the hash of what it gets. */
function sealedFiles(
  files: RemoteFiles,
  collection: string,
  keys: readonly CollectionKey[],
): Required<Omit<RemoteFiles, 'areAttached'>> {
  type File = Pick<FileRef, 'sha256' | 'size' | 'sealed'>;
  const known = ({ key }: ReturnType<typeof sealedName>) => keys.find(({ id }) => id === key);
  /** @throws {ReplicationError} `key_unknown`, `file_damaged` */
  const named = (file: File) => {
    const [name, place] = [sealedName(file), file.sha256];
    const key = known(name);
    if (key) return { key, file: { sha256: name.sha256 as string, size: file.size } };
    throw name.key ? keyUnknown(`File ${place}`, place, name.key) : damaged(file, 'It is plain.');
  };
  const crypt = (key: CollectionKey, { sha256 }: File, from: number, bytes: Bytes) =>
    cryptFile(key, collection, sha256, from, bytes);
  const sealing: FileSealing = {
    isNamed(file, isUnsent) {
      const { key } = sealedName(file);
      // Content that is here has one name, whichever key its documents have had.
      return key !== undefined && (!isUnsent || key === keys[0]?.id);
    },
    async name(file, partAt, newHash) {
      const key = keys[0] as CollectionKey;
      const [plain, hash] = [newHash(), newHash()];
      for (let at = 0; at < file.size; ) {
        const part = await partAt(at);
        if (!part?.length) break;
        plain.update(part);
        const bytes = await crypt(key, file, at, part);
        hash.update(bytes);
        at += part.length;
        freeBytes(part);
        freeBytes(bytes);
      }
      // Other content must not have its key.
      if (toHex(plain.digest()) !== file.sha256)
        throw damaged(file, 'Its content is not on this device.');
      return `${key.id}.${toHex(hash.digest())}`;
    },
  };
  return {
    sealing: async () => sealing,
    received: async (given, ...ask) => files.received(named(given).file, ...ask),
    async send(given, device, from, bytes, ask) {
      const { key, file } = named(given);
      const sealed = await crypt(key, given, from, bytes);
      return files.send(file, device, from, sealed, ask).finally(() => freeBytes(sealed));
    },
    async read(given, from, ask) {
      const { key, file } = named(given);
      const sealed = await files.read(file, from, ask);
      return crypt(key, given, from, sealed).finally(() => freeBytes(sealed));
    },
  };
}

/** Placeholders for the files of a document: the server gives these to whom it gives it. */
function filesOf(document: object): readonly object[] {
  const files = new Map(refsIn(document).map((ref) => [sealedName(ref).sha256, ref.size] as const));
  files.delete(undefined);
  return [...files].map(([sha256, size]) => ({ $file: { sha256, size, type: '' } }));
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

function sealBroken(id: string, why: string, cause?: unknown): ReplicationError {
  return new ReplicationError(
    'seal_broken',
    `Document "${id}" of the server does not open: ${why}. Nothing of its page was applied. Restore it on the server, or delete it there.`,
    { place: id, cause },
  );
}

function keyUnknown(what: string, place: string, key: string): ReplicationError {
  return new ReplicationError(
    'key_unknown',
    `${what} of the server was encrypted with the key ${key}, which is none of encrypt.key. Add that key to the list.`,
    { place },
  );
}
