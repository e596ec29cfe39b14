import { sha256 as sha256Hash } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { toHex } from '../../codec/exact-json/base64.ts';
import type { DatabaseClient } from '../../page/client/database-client.ts';
import type { DocumentCollection } from '../../page/collections/document-collection.ts';
import { type FileRef, freeBytes, refsIn } from '../protocol/files.ts';
import { PART_BYTES } from '../protocol/http-fields.ts';

interface KnownFile {
  /** Its SHA-256. */
  readonly _id: string;
  readonly size: number;
  readonly type: string;
  /** Whether all of it is here. */
  readonly isWhole: boolean;
  /** Whether the server has it, and a document that names it. */
  readonly isSent: boolean;
  /** When it was read last, in Unix milliseconds; {@link AWAITED}. */
  readonly used: number;
  /** As {@link FileRef.sealed}, of one that is sent. */
  readonly sealed?: string | undefined;
  /** Of {@link DEVICE}: the last end of a collection of the name. */
  readonly born?: number | undefined;
}

interface FilePart {
  /** `<sha256>.<number>` */
  readonly _id: string;
  /** A Blob, which the browser keeps outside of memory. Bytes, in databases of older versions. */
  readonly bytes: Blob | Uint8Array<ArrayBuffer>;
}

/** A file that no document names is kept for so long: what was deleted may be put back. */
const KEPT_MS = 86_400_000;

/**
 * Takes the place of a time: a collection that had the name before may not have taken the file
 * along yet. As it reads it, the copy that it leaves gets its time.
 */
const AWAITED = 9e15;

/** Files are looked at for their limit after so many. */
const LOOK_AFTER = 100;

const PARTS = / file parts$/;

/** All that may name a file: documents, and then what backups may bring back. */
type Naming = () => AsyncIterable<object>;

/** Holds what the server asks for before it takes a file that nobody can guess. */
const DEVICE = 'device';

/** The files of one collection that are here, as parts in two collections beside it. */
export class LocalFiles {
  readonly #files: DocumentCollection<KnownFile>;
  readonly #parts: DocumentCollection<FilePart>;
  /** Files that no document of the server names yet, by SHA-256: `sealed`, or `''`. */
  readonly unsent = new Map<string, string>();
  /** Bytes below the limit, and how many files have come, since the files were looked at. */
  #room = -1;
  #unseen = 0;
  #turn: Promise<unknown> = Promise.resolve();
  /** A secret of this device. */
  device = '';

  constructor(client: DatabaseClient, collection: string) {
    const options = { type: 'DOCUMENT_BASED', caching: false } as const;
    this.#files = new client.Collection<KnownFile>({ ...options, name: `${collection} files` });
    this.#parts = new client.Collection<FilePart>({ ...options, name: `${collection} file parts` });
  }

  /** @param born The last end of a collection of the name, which may have had files. */
  static async open(
    client: DatabaseClient,
    collection: string,
    born: number,
    naming: Naming,
  ): Promise<LocalFiles> {
    const local = new LocalFiles(client, collection);
    const known = await local.#files.get(DEVICE);
    local.device = known?.type ?? toHex(crypto.getRandomValues(new Uint8Array(16)));
    if (known?.born !== born) {
      await local.#files.patchMany({ isSent: false }, { used: AWAITED });
      await local.#moveHere(client, collection, naming);
      await local.#files.upsert({
        ...{ _id: DEVICE, type: local.device, size: 0, used: 0 },
        ...{ isWhole: false, isSent: true, born },
      });
    }
    for (const { _id, sealed = '' } of await local.#files.filter({ isSent: false }))
      local.unsent.set(_id, sealed);
    return local;
  }

  /** Takes along what is beside the name that the collection had before `renameCollection()`. */
  async #moveHere(client: DatabaseClient, collection: string, naming: Naming): Promise<void> {
    const names = (await client.collections()).map(({ name }) => name);
    const named = new Set<string>();
    for (const name of names) {
      const before = name.replace(PARTS, '');
      if (before === name || before === collection) continue;
      const others = new LocalFiles(client, before);
      // Another collection that has the name now needs them, too.
      const isTaken = names.includes(before);
      const found = await others.#files.filter({
        isWhole: true,
        ...(isTaken && { isSent: false }),
      });
      // A backup of an earlier version of the documents cannot be read.
      if (found.length > 0 && named.size === 0) await namesIn(naming, named).catch(() => undefined);
      for (const { _id: sha256, ...rest } of found) {
        const file = { ...rest, sha256 };
        const content = named.has(sha256) && (await others.content(file));
        if (!content) continue;
        await this.keep(content);
        if (file.isSent) await this.noteSent(file);
        if (!isTaken) await others.remove(file);
      }
    }
  }

  /**
   * Keeps content, which the server shall get. It is in storage when this resolves: what names it
   * may be saved before it otherwise, and it is nowhere else.
   */
  async keep(content: Blob): Promise<FileRef> {
    const { size, type } = content;
    const hash = sha256Hash.create();
    /** Of a file with one part: it need not be read again. */
    let only: Uint8Array<ArrayBuffer> | undefined;
    for (let at = 0; at < size; at += PART_BYTES) {
      const bytes = await bytesAt(content, at);
      hash.update(bytes);
      if (size > PART_BYTES) freeBytes(bytes);
      else only = bytes;
    }
    const sha256 = bytesToHex(hash.digest());
    const ref = { sha256, size, type };
    return this.#inTurn(async () => {
      // The server may not have it any more: it stays until a document there names it again.
      const known = await this.#files.patch(sha256, { isSent: false, used: Date.now() });
      if (!known?.isWhole) {
        for (let at = 0; at < size; at += PART_BYTES)
          await this.keepPart(sha256, at, only ?? (await bytesAt(content, at)));
        await this.#noteWhole(ref, false);
      }
      // Also of one that is here: the save of its note may have failed.
      await this.#files.save();
      this.unsent.set(sha256, '');
      return ref;
    });
  }

  /** Content is not removed while it is kept. */
  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const made = this.#turn.then(task);
    this.#turn = made.catch(() => undefined);
    return made;
  }

  /** Removes a file, unless it was kept or read since it was found. @returns its bytes. */
  #removeFound({ _id: sha256, size, used, isSent }: KnownFile): Promise<number> {
    return this.#inTurn(async () => {
      if ((await this.#files.count({ _id: sha256, used, isSent })) === 0) return 0;
      await this.remove({ sha256, size });
      return size;
    });
  }

  /**
   * Keeps the part of a file that begins at a byte, and frees the bytes.
   *
   * @throws {StorageError} `storage_full`
   */
  async keepPart(sha256: string, at: number, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const part = { _id: partName(sha256, at), bytes: new Blob([bytes]) };
    freeBytes(bytes);
    await this.#parts.upsert(part);
  }

  /** The part of a file that begins at a byte; `undefined` if it is not here. */
  async part(sha256: string, at: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const { bytes } = (await this.#parts.get(partName(sha256, at))) ?? {};
    // A browser may have lost the file that it keeps.
    return bytes instanceof Blob ? bytesAt(bytes, 0).catch(() => undefined) : bytes;
  }

  async isWhole({ sha256 }: FileRef): Promise<boolean> {
    return (await this.#files.get(sha256))?.isWhole === true;
  }

  /** The content of a file that is here as a whole; where a part is gone, it is that no more. */
  async content({ sha256, size, type }: FileRef): Promise<Blob | undefined> {
    const parts: Blob[] = [];
    for (let at = 0; at < size; at += PART_BYTES) {
      const bytes = await this.part(sha256, at);
      // A page may have ended while it removed the file, or another removes it now.
      if (!bytes) {
        await this.#files.patch(sha256, { isWhole: false });
        return undefined;
      }
      // The browser may keep it outside of memory.
      parts.push(new Blob([bytes]));
      freeBytes(bytes);
    }
    await this.#files.patch(sha256, { used: Date.now() });
    return new Blob(parts, { type });
  }

  /**
   * Keeps a part that the server has sent.
   *
   * @returns whether it was needed: this device may have been given the content meanwhile.
   */
  take(ref: FileRef, at: number, bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
    return this.#unlessWhole(ref, () => this.keepPart(ref.sha256, at, bytes));
  }

  /** All of a file has come from the server. */
  arrived(ref: FileRef): Promise<unknown> {
    return this.#unlessWhole(ref, () => this.#noteWhole(ref, true));
  }

  /** Removes what has come of a file. */
  discard(ref: FileRef): Promise<unknown> {
    return this.#unlessWhole(ref, () => this.remove(ref));
  }

  #unlessWhole(file: FileRef, task: () => Promise<void>): Promise<boolean> {
    return this.#inTurn(async () => {
      if (await this.isWhole(file)) return false;
      await task();
      return true;
    });
  }

  /** A document of the server names a file; one with another `sealed` is another file there. */
  async noteSent({ sha256, sealed = '' }: FileRef): Promise<void> {
    const known = this.unsent.get(sha256);
    if (known !== sealed && known !== '') return;
    await this.#files.patch(sha256, { isSent: true });
    this.unsent.delete(sha256);
  }

  /** The server lacks a file. @returns the note of it; `undefined`: it is not here. */
  noteUnsent({ sha256, sealed = '' }: FileRef): Promise<KnownFile | undefined> {
    return this.#inTurn(async () => {
      const known = await this.#files.patch(sha256, { isSent: false, sealed });
      if (known) this.unsent.set(sha256, sealed);
      return known;
    });
  }

  /**
   * Removes files that neither a document nor a backup names, once a day: to read all backups takes
   * its time.
   *
   * @param leave Whether those go, too, that the server has: of documents that have left.
   */
  async removeUnnamed(naming: Naming, leave = false): Promise<void> {
    const now = Date.now();
    const used = { $lt: now - KEPT_MS };
    const looked = leave && (await this.#files.patchMany({ _id: DEVICE, used }, { used: now }));
    const old = { used, ...(looked ? { isWhole: true } : { isSent: false }) };
    const found = await this.#files.filter(old);
    if (found.length === 0) return;
    const named = await namesIn(naming);
    for (const file of found) if (!named.has(file._id)) await this.#removeFound(file);
    // The rest is looked at another day; when others were read last is kept for the limit.
    await this.#files.patchMany({ isSent: false, used }, { used: now });
  }

  async remove({ sha256, size }: Pick<FileRef, 'sha256' | 'size'>): Promise<void> {
    this.unsent.delete(sha256);
    await this.#files.delete(sha256);
    for (let at = 0; at < size; at += PART_BYTES) await this.#parts.delete(partName(sha256, at));
  }

  /** Removes files that the server has, those first that were not read for longest. */
  async limit(bytes: number, { sha256: kept, size }: FileRef): Promise<void> {
    this.#room -= size;
    // Other pages take room, too.
    if (this.#room >= 0 && ++this.#unseen < LOOK_AFTER) return;
    this.#unseen = 0;
    const all = await this.#files.filter({ isWhole: true }, { sort: { used: 1 } });
    let total = all.reduce((sum, { size }) => sum + size, 0);
    for (const file of all) {
      if (total <= bytes) break;
      if (file.isSent && file._id !== kept) total -= await this.#removeFound(file);
    }
    this.#room = bytes - total;
  }

  /** Where the disk has no room for the parts, the note must not say that they are here. */
  async #noteWhole({ sha256, size, type }: FileRef, isSent: boolean): Promise<void> {
    await this.#parts.save();
    await this.#files.upsert({ _id: sha256, size, type, used: Date.now(), isWhole: true, isSent });
  }
}

async function namesIn(naming: Naming, names = new Set<string>()): Promise<ReadonlySet<string>> {
  for await (const document of naming())
    for (const { sha256 } of refsIn(document)) names.add(sha256);
  return names;
}

const partName = (sha256: string, at: number) => `${sha256}.${at / PART_BYTES}`;

async function bytesAt(content: Blob, at: number): Promise<Uint8Array<ArrayBuffer>> {
  // The page waits for the browser's own process as it makes a Blob: none for what has one part.
  const part = content.size > PART_BYTES ? content.slice(at, at + PART_BYTES) : content;
  return new Uint8Array(await part.arrayBuffer());
}
