import { createHash } from 'node:crypto';
import { encodeDocument } from '../../src/codec/exact-json/wire-documents.ts';
import { type FileRef, refsIn, sealedName } from '../../src/replication/protocol/files.ts';
import { PART_BYTES } from '../../src/replication/protocol/http-fields.ts';
import type {
  LocalChange,
  PushResult,
  RemoteFiles,
} from '../../src/replication/protocol/remote.ts';
import { RequestFailure } from '../../src/server/failures.ts';
import { documentFiles, type FileStore, memoryFiles } from '../../src/server/files/index.ts';
import type { Store, StoredRow } from '../../src/server/store.ts';
import type { ReplicationServer } from './replication-server.ts';
import type { World } from './world.ts';

/** Seconds for which a file stays that no document names: shorter than a run. */
const GRACE = 2;
/** Bytes of contents and limits are written for parts of so many. */
export const PARTS = 16;
/** The longest that the store of files takes, in milliseconds. */
const STORE_MS = 40;

interface Asked {
  readonly sha256: string;
  readonly method: 'GET' | 'PUT';
  readonly query: Readonly<Record<string, string | number>>;
  readonly body?: Uint8Array | undefined;
}

type Call = readonly [keyof FileStore, readonly unknown[]];

/** What a server with files is made of. */
interface Parts {
  readonly world: World;
  readonly documents: ReplicationServer;
  /** Whether browsers keep few of the files that the server has. */
  readonly isLimited: boolean;
}

/** Files that pages make, and whether the server has those that documents name. */
export abstract class MadeFiles {
  /** How often a process ends while it works on a request. */
  crashes = 0;
  /** The contents that pages have made, by SHA-256. */
  readonly contents = new Map<string, Uint8Array>();
  protected readonly world: World;
  /** Whether browsers keep few of the files that the server has. */
  protected readonly isLimited: boolean;

  constructor({ world, isLimited }: Pick<Parts, 'world' | 'isLimited'>) {
    this.world = world;
    this.isLimited = isLimited;
  }

  content(_browser: number): Uint8Array<ArrayBuffer> | Blob {
    return this.bytes();
  }

  /** New content, or content that there is already. */
  bytes(): Uint8Array<ArrayBuffer> {
    const { random } = this.world;
    const known = [...this.contents.values()];
    if (known.length > 0 && random.chance(0.3)) return random.pick(known).slice();
    const size = ((9 + random.below(50)) * PART_BYTES) / PARTS;
    const bytes = new Uint8Array(size).map(() => random.below(256));
    this.contents.set(sha256Of(bytes), bytes);
    return bytes;
  }

  /** Whether a browser that is at rest can read the file of a document. */
  abstract isDue(browser: number, document: object, isRefused: boolean): boolean;

  /** Whether a browser has what the server needs to take a document. */
  abstract isKept(browser: number, document: object | undefined): boolean;

  copy(): void {}

  /** Goes back to a copy, which was made with that of the documents. */
  restore(_nth: number): void {}

  async collect(): Promise<void> {}

  /** What is not as it must be at rest. */
  async problems(documents: ReadonlyMap<string, object>, isSealed: boolean): Promise<string[]> {
    const found: string[] = [];
    for (const [id, document] of documents) {
      const { f } = document as { f?: { $file?: FileRef } };
      if (f === undefined) continue;
      const { sha256 = '' } = f.$file ?? {};
      const name = isSealed ? sealedName(f.$file ?? {}).sha256 : sha256;
      const content = this.contents.get(sha256);
      const bytes = await this.bytesOf(id, name ?? '');
      if (!content || !bytes || Buffer.from(content).equals(bytes) === isSealed)
        found.push(`the server has not the file of ${id}, ${sha256}`);
    }
    return found;
  }

  /** What the server has. */
  protected abstract bytesOf(id: string, sha256: string): Promise<Buffer | undefined>;
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * The files of `cairndb/server/files` over a store in memory that takes its time, and whose
 * processes end in between.
 */
export class SimFiles extends MadeFiles {
  readonly #server: ReplicationServer;
  readonly #files;
  readonly #documents: Store;
  #store: FileStore;
  readonly #makers = new Set<string>();
  /** All that has changed the store, for a copy of it. */
  #calls: readonly Call[] = [];
  readonly #copies: (readonly Call[])[] = [];

  constructor({ world, documents, isLimited }: Parts) {
    super({ world, isLimited });
    this.#server = documents;
    this.#store = this.#newStore();
    this.#files = documentFiles({ store: this.#slowStore(), grace: GRACE });
    const read: Store['read'] = (_, ids) => this.read(ids);
    this.#documents = { read } as Partial<Store> as Store;
  }

  /** The documents of the server, as its handler reads them. */
  async read(ids: readonly string[]): Promise<readonly StoredRow[]> {
    return ids.flatMap((id) => {
      const document = this.#server.stored(id);
      return document ? { id, version: '', keys: [], document: encodeDocument(document) } : [];
    });
  }

  #newStore(): FileStore {
    return memoryFiles(() => Date.now());
  }

  /** Whether a browser keeps what it has made: another one names what others may have replaced. */
  isKept(browser: number, document: object | undefined): boolean {
    const refs = refsIn(document);
    return !this.isLimited && refs.every(({ sha256 }) => this.#makers.has(`${browser} ${sha256}`));
  }

  isDue(browser: number, document: object, isRefused: boolean): boolean {
    return !isRefused || this.isKept(browser, document);
  }

  override content(browser: number): Uint8Array<ArrayBuffer> {
    const bytes = this.bytes();
    this.#makers.add(`${browser} ${sha256Of(bytes)}`);
    return bytes;
  }

  override copy(): void {
    this.#copies.push(this.#calls);
  }

  override restore(nth: number): void {
    this.#calls = this.#copies[nth] ?? [];
    this.#store = this.#newStore();
    // At once: each of a store in memory is done before it returns.
    for (const call of this.#calls) void callOf(this.#store, call);
  }

  override async collect(): Promise<void> {
    await this.#files.collect(this.#documents).catch(ignoreEnd);
  }

  /** Why the server does not take rows, as they name files that it has not got. */
  async refusals(rows: readonly LocalChange[]): Promise<(PushResult | undefined)[]> {
    const refused: (PushResult | undefined)[] = [];
    for (const { id, key, device, document } of rows) {
      const row = { id, key, device, document: document && encodeDocument(document) };
      const [documents, collection] = [this.#documents, 'orders'];
      const reason = await this.#files.refusal({ documents, collection, canRead: undefined, row });
      // A retry is answered as the first time.
      const isAllowed = reason === undefined || this.#server.knows(key);
      refused.push(isAllowed ? undefined : { rejected: { reason, retry: true } });
    }
    return refused;
  }

  /** As `http()` asks. @param request Sends it over the network. */
  remote(request: <T>(signal: AbortSignal, run: () => Promise<T>) => Promise<T>): RemoteFiles {
    const json = async (asked: Asked) => {
      const { received, done } = await (await this.#answer(asked)).json();
      return done ? undefined : (received as number);
    };
    return {
      received: ({ sha256, size }, device, { signal }) =>
        request(signal, () => json({ sha256, method: 'GET', query: { device, size } })),
      send: ({ sha256, size }, device, from, bytes, { signal }) => {
        const body = bytes.slice();
        const query = { device, size, from };
        return request(signal, () => json({ sha256, method: 'PUT', query, body }));
      },
      read: ({ sha256 }, from, { signal }) =>
        request(signal, async () => {
          const answer = await this.#answer({ sha256, method: 'GET', query: { from } });
          return new Uint8Array(await answer.arrayBuffer());
        }),
    };
  }

  async #answer({ sha256, method, query, body }: Asked): Promise<Response> {
    const text = new URLSearchParams(query as Record<string, string>);
    const url = `https://example.com/orders/files/${sha256}?${text}`;
    return this.#files.answer({
      ...{ documents: this.#documents, collection: 'orders', sha256, canRead: undefined },
      request: new Request(url, { method }),
      fail: (...failure) => new RequestFailure(...failure),
      readBytes: async () => body ?? new Uint8Array(),
      report: () => undefined,
    });
  }

  protected async bytesOf(_id: string, sha256: string): Promise<Buffer | undefined> {
    const file = { collection: 'orders', sha256 };
    const size = await this.#store.size(file);
    if (size === undefined) return undefined;
    const parts: Uint8Array[] = [];
    for (let at = 0; at < size; at += parts.at(-1)?.length ?? 1)
      parts.push((await this.#store.read(file, at))?.bytes ?? new Uint8Array(1));
    return Buffer.concat(parts);
  }

  /** Takes its time, and ends now and then before or behind what it does. */
  #slowStore(): FileStore {
    const call = async (name: keyof FileStore, args: readonly unknown[]) => {
      const store = this.#store;
      await this.#pause();
      if (store !== this.#store) throw new ProcessEnded();
      if (!READS.has(name)) this.#calls = [...this.#calls, [name, args]];
      const made = await callOf(store, [name, args]);
      await this.#pause();
      return made;
    };
    return new Proxy({} as FileStore, {
      get:
        (_, name) =>
        (...args: unknown[]) =>
          call(name as keyof FileStore, args),
    });
  }

  async #pause(): Promise<void> {
    const { random } = this.world;
    const isEnd = random.chance(this.crashes);
    await new Promise<void>((resolve) =>
      this.world.after(random.between(0, STORE_MS), undefined, resolve),
    );
    if (isEnd) throw new ProcessEnded();
  }
}

function callOf(store: FileStore, [name, args]: Call): Promise<unknown> {
  return (store[name] as (...all: readonly unknown[]) => Promise<unknown>)(...args);
}

const READS: ReadonlySet<string> = new Set([
  'received',
  'uploaded',
  'size',
  'read',
  'names',
  'unused',
]);

/** A process of the server has ended: its client hears of an error, and nothing more is done. */
class ProcessEnded extends Error {}

function ignoreEnd(error: unknown): void {
  if (!(error instanceof ProcessEnded)) throw error;
}
