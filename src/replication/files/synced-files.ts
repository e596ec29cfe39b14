import { sha256 as sha256Hash } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Clock } from '../../async/clock.ts';
import type { CairnError } from '../../errors/errors.ts';
import type { DatabaseClient } from '../../page/client/database-client.ts';
import type { DocumentCollection } from '../../page/collections/document-collection.ts';
import { getAt } from '../../query/path/value-path.ts';
import { pauseFor } from '../fetching/slowdown.ts';
import {
  contentOf,
  countContent,
  damaged,
  type FileProgress,
  type FileRef,
  type FilesSettings,
  type FilesStatus,
  freeBytes,
  type RoundFiles,
  refOf,
  refsIn,
  serverName,
  withoutContent,
} from '../protocol/files.ts';
import { PART_BYTES } from '../protocol/http-fields.ts';
import type { FileAsk, FileSealing, RemoteFile, RemoteFiles } from '../protocol/remote.ts';
import { type RemoteCalls, STEP_BYTES } from '../rounds/remote-calls.ts';
import { LocalFiles } from './local-files.ts';

export interface FilesEvents {
  progress(progress: FileProgress): void;
  changed(): void;
}

/** A file, and a document that names it. */
type FileOf = FileRef & { readonly id: string };

/** The calls to the remote, which a signal ends, or the end of the replication. */
type CallsWith = (signal?: AbortSignal) => RemoteCalls;

/** Errors of one file: others go on. */
const OF_FILE: ReadonlySet<string> = new Set([
  ...['remote_refused', 'remote_too_large', 'remote_forbidden', 'answer_invalid', 'file_damaged'],
]);

/** Files are sent for so long before a round looks for other changes. */
const BESIDE_MS = 2000;

/** A part that took less may be larger. */
const QUICK_MS = 10_000;

/** So often a file is sent again that the server says it does not have. */
const MOST_SENDS = 3;

/** The files of the documents of one collection: on the server, here, and on their way. */
export class SyncedFiles implements RoundFiles {
  readonly #collection: DocumentCollection<object>;
  readonly #local: LocalFiles;
  readonly #settings: FilesSettings;
  readonly #calls: CallsWith;
  readonly #events: FilesEvents;
  /** `undefined`: the server gets files as they are. */
  readonly #sealing: FileSealing | undefined;
  /** Whether files travel with their documents. */
  readonly #areAttached: boolean;
  /** By {@link serverName}, as {@link #wanted}: the same content may have two keys. */
  readonly #loading = new Map<string, Promise<void>>();
  /** Files that come by themselves. */
  readonly #wanted = new Map<string, FileOf>();
  /** Documents that wait, and for how many files. */
  readonly #waiting = new Map<string, number>();
  /** Whether all that have changed were looked at: {@link LocalFiles.unsent} has others, too. */
  #isListed = false;
  #sending: Promise<void> | undefined;
  /** Whether a document that the round skips waits no more. */
  #hasSent = false;
  #interrupt: () => void = () => undefined;
  /** Why a file cannot be sent, by {@link serverName}, as {@link #sends} and {@link #sent}. */
  readonly #refused = new Map<string, string>();
  readonly #sends = new Map<string, number>();
  /** Bytes that are sent at a time: halved where the network is too slow for them. */
  #most = PART_BYTES;
  /** Files that the server has, and that no document of it may name yet. */
  readonly #sent = new Set<string>();
  #hasLooked = false;

  private constructor(
    local: LocalFiles,
    collection: DocumentCollection<object>,
    settings: FilesSettings,
    calls: CallsWith,
    events: FilesEvents,
    { sealing, areAttached = false }: { sealing?: FileSealing | undefined; areAttached?: boolean },
  ) {
    this.#sealing = sealing;
    this.#areAttached = areAttached;
    this.#local = local;
    this.#collection = collection;
    this.#settings = settings;
    this.#calls = calls;
    this.#events = events;
  }

  /**
   * @param born As {@link LocalFiles.open} has it.
   * @param calls The calls to the remote, which has files.
   */
  static async open(
    client: DatabaseClient,
    collection: DocumentCollection<object>,
    born: number,
    ...rest: readonly [FilesSettings, CallsWith, FilesEvents]
  ): Promise<SyncedFiles> {
    const [, calls] = rest;
    const server = await calls().files(async ({ sealing, areAttached = false }) => ({
      ...{ areAttached, sealing: await sealing?.() },
    }));
    const local = await LocalFiles.open(client, collection.name, born, () => naming(collection));
    return new SyncedFiles(local, collection, ...rest, server);
  }

  get status(): FilesStatus {
    const downloads = new Set([...this.#loading.keys(), ...this.#wanted.keys()]);
    let uploads = 0;
    for (const files of this.#waiting.values()) uploads += files;
    if (!this.#isListed) uploads ||= this.#local.unsent.size;
    return { uploads, downloads: downloads.size };
  }

  deviceFor(document: object | null | undefined): string | undefined {
    return refsIn(document).length > 0 ? this.#local.device : undefined;
  }

  isHeavy(document: object | null | undefined, baseOf: () => object | null | undefined): boolean {
    const refs = this.#areAttached ? refsIn(document) : [];
    if (refs.length === 0) return false;
    const there = new Set(refsIn(baseOf()).map(serverName));
    return refs.some((ref) => !there.has(serverName(ref)));
  }

  async content({ sha256, size }: RemoteFile): Promise<Blob | undefined> {
    const file = { sha256, size, type: '' };
    const here = (await this.#local.isWhole(file)) && (await this.#local.content(file));
    if (here) return here;
    if (this.#local.unsent.has(sha256)) throw damaged(file, 'It is gone here.');
    // The document has it from another one.
    for await (const document of allOf(this.#collection))
      for (const ref of refsIn(document)) {
        if (ref.sha256 !== sha256) continue;
        const { _id: id } = document as { readonly _id: string };
        const error = await this.#load({ ...ref, id }).catch((failure: CairnError) => failure);
        if (!error) return this.#local.content(file);
        if (!OF_FILE.has(error.code)) throw error;
      }
    return undefined;
  }

  waiting(): Iterable<string> {
    this.#hasSent = false;
    return this.#waiting.keys();
  }

  verdict(id: string, document: object | null | undefined): boolean | string {
    if (!document) return true;
    const refs = refsIn(document);
    const reason = refs.map((ref) => this.#refused.get(serverName(ref))).find(Boolean);
    if (reason) return reason;
    const count = countContent(document, this.#settings.above) + this.#unsentOf(refs).length;
    if (count > 0) this.#waiting.set(id, count);
    return count === 0;
  }

  #unsentOf(refs: readonly FileRef[]): readonly FileRef[] {
    return refs.filter(
      (ref) =>
        !this.#isNamed(ref) ||
        (this.#local.unsent.has(ref.sha256) && !this.#sent.has(serverName(ref))),
    );
  }

  /** Whether a document says what the server calls a file. */
  #isNamed(ref: FileRef): boolean {
    return this.#sealing?.isNamed(ref, this.#local.unsent.has(ref.sha256)) ?? true;
  }

  /** All documents were looked at that have changed. */
  caughtUp(): void {
    if (this.#isListed) return;
    this.#isListed = true;
    this.#events.changed();
    // Or another time.
    this.#local
      .removeUnnamed(() => naming(this.#collection), this.#settings.leaves)
      .catch(() => undefined);
  }

  /**
   * Sends files that documents wait for, beside rounds: resolves when all are sent, after a while,
   * or as soon as something else has changed.
   *
   * @returns whether there was one, or has been since the last push looked.
   */
  async send(clock: Clock, signal: AbortSignal): Promise<boolean> {
    const hasSent = this.#hasSent;
    this.#hasSent = false;
    if (this.#waiting.size === 0) return hasSent;
    this.#sending ??= this.#sendAll(clock, signal).finally(() => {
      this.#sending = undefined;
    });
    this.#sending.catch(() => undefined);
    const interrupted = new Promise<void>((resolve) => {
      this.#interrupt = resolve;
    });
    const sooner = Promise.race([this.#sending, interrupted]);
    await pauseFor(clock, BESIDE_MS, signal, sooner).finally(() => {
      this.#hasSent = false;
    });
    return true;
  }

  /** What has changed shall not wait for files. */
  interrupt(): void {
    this.#interrupt();
  }

  async #sendAll(clock: Clock, signal: AbortSignal): Promise<void> {
    const { above } = this.#settings;
    for (const id of this.#waiting.keys()) {
      let document: object | undefined = await this.#collection.get(id);
      const isUnnamed = (ref: FileRef) => !this.#isNamed(ref);
      if (countContent(document, above) > 0 || refsIn(document).some(isUnnamed))
        document = await this.#collection
          .modify(id, async (present) => {
            const keep = (content: Blob | FileRef) => this.#keep(content);
            return (await withoutContent(present, above, keep)) as object;
          })
          .catch((error: CairnError) => {
            // Content that is lost as it is kept is in its document still: a later round has it.
            if (countContent(document, above) > 0) throw error;
            return this.#refuse(error);
          });
      for (let refs = this.#unsentOf(refsIn(document)); refs[0]; refs = this.#unsentOf(refs)) {
        this.#waiting.set(id, refs.length);
        this.#events.changed();
        await this.#send(refs[0], clock, signal);
        if (this.#refused.has(serverName(refs[0]))) break;
      }
      this.#waiting.delete(id);
      this.#hasSent = true;
      this.#events.changed();
    }
  }

  /** Keeps content here, and names it for the server. */
  async #keep(content: Blob | FileRef): Promise<FileRef> {
    const ref = content instanceof Blob ? await this.#local.keep(content) : content;
    if (this.#isNamed(ref)) return ref;
    const read = (at: number) => this.#local.part(ref.sha256, at);
    const sealed = await this.#sealing?.name(ref, read, () => sha256Hash.create());
    const named = { ...ref, sealed };
    this.#refused.delete(ref.sha256);
    await this.#local.noteUnsent(named);
    return named;
  }

  /** Notes why a file cannot be sent. @throws {CairnError} an error of another kind. */
  #refuse(error: CairnError, name = error.place as string): undefined {
    if (!OF_FILE.has(error.code)) throw error;
    this.#refused.set(name, error.message);
  }

  async resend(document: object | null | undefined): Promise<boolean> {
    const refs = this.#areAttached ? [] : refsIn(document);
    let isSending = refs.length === 0;
    for (const ref of refs) {
      const name = serverName(ref);
      const sends = (this.#sends.get(name) ?? 0) + 1;
      this.#sends.set(name, sends);
      this.#sent.delete(name);
      if (sends <= MOST_SENDS && (await this.#local.noteUnsent(ref)))
        isSending = this.#hasSent = true;
    }
    return isSending;
  }

  async incoming(documents: readonly (object | null | undefined)[]): Promise<void> {
    this.#want(documents);
    await this.named(documents);
  }

  /** Until then files stay here: a server removes those that no document names. */
  async named(documents: readonly (object | null | undefined)[]): Promise<void> {
    for (const ref of refsIn(documents)) {
      this.#sends.delete(serverName(ref));
      await this.#local.noteSent(ref);
    }
  }

  #want(documents: readonly (object | null | undefined)[]): void {
    if (this.#settings.load !== 'eager') return;
    for (const document of documents)
      for (const ref of refsIn(document)) {
        const { _id: id } = document as { readonly _id: string };
        this.#wanted.set(serverName(ref), { ...ref, id });
      }
  }

  /**
   * Loads the files that shall come by themselves, until all are here, the server is away, or the
   * disk is full. Those whose key is missing wait.
   */
  async fetchWanted(): Promise<void> {
    if (this.#settings.load !== 'eager') return;
    // A page may have ended before all were here.
    if (!this.#hasLooked)
      for await (const document of allOf(this.#collection)) this.#want([document]);
    this.#hasLooked = true;
    let locked: CairnError | undefined;
    for (const [name, ref] of this.#wanted) {
      const error = await this.#load(ref).catch((failure: CairnError) => failure);
      if (error?.code === 'key_unknown') locked = error;
      else {
        this.#wanted.delete(name);
        if (error && !OF_FILE.has(error.code)) {
          // The end of the list is its place: what fails each time must not keep the others.
          this.#wanted.set(name, ref);
          throw error;
        }
      }
      this.#events.changed();
    }
    if (locked) throw locked;
  }

  /** The file at a path of a document, loaded if it is not here. */
  async file(id: string, path: string): Promise<Blob | undefined> {
    const document = await this.#collection.get(id);
    const value = document && getAt(document, path.split('.'));
    const ref = refOf(value);
    if (!ref) return contentOf(value, -1);
    await this.#load({ ...ref, id });
    const content = await this.#local.content(ref);
    if (content) return content;
    await this.#load({ ...ref, id });
    return this.#local.content(ref);
  }

  async #send(ref: FileRef, clock: Clock, ended: AbortSignal): Promise<void> {
    const { sha256, size } = ref;
    const { device } = this.#local;
    const call = <T>(make: (files: RemoteFiles, ask: FileAsk) => Promise<T>) =>
      this.#calls(ended).files(make);
    try {
      let at = await call((files, ask) => files.received(ref, device, ask));
      // One that says that it has less each time would be asked for ever.
      for (let steps = 2 * Math.ceil(size / STEP_BYTES) + 2; at !== undefined; steps--) {
        const from = Math.floor(at / PART_BYTES) * PART_BYTES;
        const part = (await this.#local.part(sha256, from)) ?? new Uint8Array();
        if (steps === 0 || (at >= size && size > 0)) throw damaged(ref, 'The server lost it.');
        const rest = part.subarray(at - from, at - from + this.#most);
        const [sentFrom, begun] = [at, clock.elapsed()];
        at = await call((files, ask) => files.send(ref, device, sentFrom, rest, ask));
        freeBytes(part);
        if (clock.elapsed() - begun < QUICK_MS) this.#most = Math.min(PART_BYTES, 2 * this.#most);
        this.#events.progress({ sha256, direction: 'up', bytes: at ?? size, size });
      }
      this.#sent.add(serverName(ref));
      this.#events.changed();
    } catch (error) {
      const failure = error as CairnError;
      if (failure.code === 'remote_timeout') this.#most = Math.max(STEP_BYTES, this.#most / 2);
      this.#refuse(failure, serverName(ref));
    }
  }

  #load(ref: FileOf): Promise<void> {
    const name = serverName(ref);
    const known = this.#loading.get(name);
    if (known) return known;
    const loading = this.#download(ref)
      .catch(async (error: CairnError) => {
        // What is of no use yet makes room for what the user writes.
        if (error.code === 'storage_full') await this.#local.discard(ref);
        throw error;
      })
      .finally(() => {
        this.#loading.delete(name);
        this.#events.changed();
      });
    this.#loading.set(name, loading);
    this.#events.changed();
    return loading;
  }

  async #download(ref: FileOf): Promise<void> {
    const { sha256, size } = ref;
    if (await this.#local.isWhole(ref)) return;
    const hash = sha256Hash.create();
    for (let at = 0; at < size; ) {
      const known = await this.#local.part(sha256, at);
      const length = Math.min(PART_BYTES, size - at);
      const bytes = known ?? (await this.#calls().files((files, ask) => files.read(ref, at, ask)));
      if (bytes.length !== length) {
        await this.#local.discard(ref);
        throw damaged(ref, 'It has another size.');
      }
      hash.update(bytes);
      if (!known && !(await this.#local.take(ref, at, bytes))) return;
      at += length;
      this.#events.progress({ sha256, direction: 'down', bytes: at, size });
    }
    if (bytesToHex(hash.digest()) !== sha256) {
      await this.#local.discard(ref);
      throw damaged(ref, 'It has another SHA-256.');
    }
    await this.#local.arrived(ref);
    await this.#local.limit(this.#settings.limit, ref);
  }
}

const allOf = (documents: Pick<DocumentCollection<object>, 'each'>) =>
  documents.each({}, { archived: true });

/** All that may name a file. */
async function* naming(collection: DocumentCollection<object>): AsyncGenerator<object> {
  yield* allOf(collection);
  for (const { name } of await collection.listBackups()) yield* allOf(collection.at(name));
}
