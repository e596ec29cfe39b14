import {
  type Awareness,
  applyAwarenessUpdate,
  encodeAwarenessUpdate,
  removeAwarenessStates,
} from 'y-protocols/awareness';
import * as Y from 'yjs';
import type { LiveSnapshot } from '../api/live-options.ts';
import { Emitter } from '../async/emitter.ts';
import { CollectionError, StorageError } from '../errors/errors.ts';
import type { DatabaseClient } from '../page/client/database-client.ts';
import type { DocumentCollection } from '../page/collections/document-collection.ts';
import { REPLICATION, type ReplicationAccess } from '../page/collections/replication-access.ts';

/** A document of the collection: changes of a Y.Doc, written once and never changed. */
export interface DocUpdate {
  /** The name of the Y.Doc. */
  readonly doc: string;
  /** An update of Yjs, version 1. */
  readonly update: Uint8Array;
}

type Row = DocUpdate & { readonly _id: string };
export type UpdateRows = DocumentCollection<DocUpdate>;

/** Options of {@link keepDoc}. */
export interface KeepDocOptions {
  /** The name of the Y.Doc in its collection: the same in all tabs and on all devices. */
  readonly name: string;
  /** Cursors and names of the people in other tabs: an `Awareness` of y-protocols of this Y.Doc. */
  readonly awareness?: Awareness | undefined;
}

/** The events of a {@link KeptDoc}. */
interface KeptDocEvents {
  /**
   * Something was not stored or not read. What storage lacks is stored with the next edit, or
   * `save()`.
   */
  error: Error;
}

export const keptDocs = new WeakMap<Y.Doc, KeptDoc>();

/**
 * A Y.Doc that is kept in a collection. Made by {@link keepDoc}. It is the origin of the
 * transactions in which the Y.Doc takes over what others have changed.
 */
export class KeptDoc {
  readonly name: string;
  readonly doc: Y.Doc;
  readonly awareness: Awareness | undefined;
  /**
   * Resolves when the Y.Doc has what is stored.
   *
   * @throws {CollectionError} `closed` if it is closed before; {StorageError}
   */
  readonly ready: Promise<void>;
  readonly #collection: UpdateRows;
  readonly #client: DatabaseClient;
  readonly #emitter = new Emitter<KeptDocEvents>(['error']);
  /** What is stored, as the live query shows it. */
  #rows: readonly Row[] = [];
  /** Ids that the Y.Doc has, or that are damaged. */
  readonly #seen = new Set<string>();
  readonly #damaged = new Set<string>();
  /** Updates that are not sent yet. */
  #queue: Uint8Array[] = [];
  /** Whether storage may lack more than the queue has. */
  #lacksMore: boolean;
  /** Whether rows are gone that the next edit may stand on. */
  #areRowsGone = false;
  #isLoaded = false;
  #isClosed = false;
  readonly #inFlight = new Set<Promise<void>>();
  /** Why storage lacks something. */
  #refusal: unknown;
  #merging: Promise<void> = Promise.resolve();
  #settleReady: (error?: unknown) => void = () => undefined;
  #leaveLive: () => void = () => undefined;
  #leaveAwareness: () => void = () => undefined;

  /** @internal */
  constructor(collection: UpdateRows, doc: Y.Doc, { name, awareness }: KeepDocOptions) {
    this.name = name;
    this.doc = doc;
    this.awareness = awareness;
    this.#collection = collection;
    // The client of a collection makes its transactions.
    const { owner } = collection[REPLICATION] as ReplicationAccess;
    this.#client = owner as unknown as DatabaseClient;
    this.#lacksMore = doc.store.clients.size > 0 || doc.store.pendingStructs !== null;
    this.ready = new Promise((resolve, reject) => {
      this.#settleReady = (error) => (error ? reject(error) : resolve());
    });
    this.ready.catch(() => undefined);
    keptDocs.set(doc, this);
    doc.on('update', this.#enqueue);
    doc.on('destroy', this.#end);
    this.#leaveLive = collection.live({ doc: name }).subscribe(this.#show);
  }

  /** Listens to an event. @returns a function that removes the listener. */
  on<Name extends keyof KeptDocEvents>(
    name: Name,
    listener: (event: KeptDocEvents[Name]) => void,
  ): () => void {
    return this.#emitter.on(name, listener);
  }

  /** Resolves when all edits so far are in storage. @throws what refused them. */
  async save(): Promise<void> {
    await this.#flush();
    await this.#collection.save();
  }

  /**
   * Merges the rows into one, as many as make no more than 1 MB. Small ones are merged after edits
   * anyhow, so that a Y.Doc has some dozens of rows; this leaves the fewest.
   */
  async compact(): Promise<void> {
    await this.#flush();
    await this.ready;
    await this.#merge(rowsThatFit);
  }

  /**
   * Ends it, as `doc.destroy()` does: later edits are not stored, the cursor leaves other tabs.
   * Resolves when all edits so far are in the collection.
   *
   * @throws what refused them.
   */
  async close(): Promise<void> {
    if (this.#isClosed) return this.#flush();
    this.#isClosed = true;
    this.doc.off('update', this.#enqueue);
    this.doc.off('destroy', this.#end);
    this.#leaveAwareness();
    keptDocs.delete(this.doc);
    if (!this.#lacksMore) this.#leave();
    try {
      await this.#flush();
    } finally {
      this.#leave();
    }
  }

  #leave(): void {
    this.#leaveLive();
    const message = `The Y.Doc "${this.name}" was closed before it was read.`;
    this.#settleReady(new CollectionError('closed', message, { place: this.name }));
  }

  readonly #end = (): void => {
    this.close().catch(() => undefined); // an event has told of it
  };

  readonly #enqueue = (update: Uint8Array, origin: unknown): void => {
    if (origin === this) return;
    this.#queue.push(update);
    // Before the page can end; what was edited in one go becomes one row.
    if (this.#queue.length === 1) queueMicrotask(this.#append);
  };

  async #flush(): Promise<void> {
    if (this.#lacksMore) await this.ready;
    this.#append();
    await Promise.all(this.#inFlight);
    if (this.#refusal) throw this.#refusal;
  }

  readonly #append = (): void => {
    if (this.#lacksMore && !this.#isLoaded) return;
    if (this.#queue.length === 0 && !this.#lacksMore) return;
    const isAll = this.#lacksMore || this.#areRowsGone;
    const update = isAll ? missingUpdate(this.doc, this.#wholeRows()) : this.#takeQueue();
    this.#queue = [];
    this.#lacksMore = false;
    this.#areRowsGone = false;
    this.#refusal = undefined;
    if (!update) return;
    const insert = this.#insert(update).finally(() => this.#inFlight.delete(insert));
    this.#inFlight.add(insert);
  };

  async #insert(update: Uint8Array): Promise<void> {
    try {
      const { _id } = await this.#collection.insert({ doc: this.name, update });
      this.#seen.add(_id);
      if (!this.#isClosed)
        this.#merge(rowsWorthMerging).catch((error) => {
          if (!isAnswerLost(error)) this.#emitter.emit('error', error);
        });
    } catch (error) {
      this.#lacksMore = true;
      if (isAnswerLost(error)) return;
      this.#refusal = error;
      this.#emitter.emit('error', error as Error);
    }
  }

  #takeQueue(): Uint8Array | undefined {
    const [first] = this.#queue;
    return this.#queue.length > 1 ? Y.mergeUpdates(this.#queue) : first;
  }

  #wholeRows(): readonly Row[] {
    return this.#rows.filter(({ _id }) => !this.#damaged.has(_id));
  }

  readonly #show = ({ status, data, error }: LiveSnapshot<readonly Row[]>): void => {
    if (status === 'error') {
      if (this.#isLoaded) this.#emitter.emit('error', error);
      this.#settleReady(error);
    }
    if (status !== 'ready') return;
    this.#take(data);
    if (this.#isLoaded) return;
    this.#isLoaded = true;
    this.#settleReady();
    this.#append();
    if (this.awareness && !this.#isClosed && this.#client.status.storage !== 'memory')
      this.#leaveAwareness = shareAwareness(
        this.awareness,
        `cairn-yjs:${this.#client.name}:${this.#collection.name}:${this.name}`,
        this,
      );
  };

  #take(rows: readonly Row[]): void {
    const ids = new Set(rows.map(({ _id }) => _id));
    // Merged ones have another row in their place. Of those that are gone for good, the next edit
    // brings back what it stands on.
    if (this.#rows.some(({ _id }) => !ids.has(_id))) this.#areRowsGone = true;
    this.#rows = rows;
    const damaged: string[] = [];
    const takeOver = () => {
      for (const { _id, update } of rows) {
        if (this.#seen.has(_id)) continue;
        this.#seen.add(_id);
        if (isUpdate(update)) Y.applyUpdate(this.doc, update, this);
        else damaged.push(_id);
      }
    };
    Y.transact(this.doc, takeOver, this, false);
    for (const _id of damaged) this.#tellDamaged(_id);
  }

  #tellDamaged(_id: string): void {
    this.#damaged.add(_id);
    const place = this.#collection.name;
    const message = `Collection "${place}": "${_id}" of the Y.Doc "${this.name}" has no update of Yjs (version 1). It is left out and kept: delete it, or load a backup.`;
    this.#emitter.emit('error', new StorageError('data_damaged', message, { place }));
  }

  /** One merge after the other. */
  #merge(choose: (all: readonly Row[]) => readonly Row[]): Promise<void> {
    const merge = this.#merging.then(() => this.#mergeRows(choose));
    this.#merging = merge.catch(() => undefined);
    return merge;
  }

  async #mergeRows(choose: (all: readonly Row[]) => readonly Row[]): Promise<void> {
    const all = this.#wholeRows();
    const rows = choose(all);
    if (rows.length < 2) return;
    // The state of the Y.Doc has no deleted text any more.
    const update =
      rows.length === all.length
        ? Y.encodeStateAsUpdate(this.doc)
        : Y.mergeUpdates(rows.map((row) => row.update));
    // The whole is saved before its parts go, so replication sends it before: whatever is lost on
    // the way, nobody has less. Two tabs that merge the same rows leave two, which merge later.
    const { _id } = await this.#collection.insert({ doc: this.name, update });
    await this.#collection.save();
    await this.#client.transaction(async (tx) => {
      const stored = tx(this.#collection);
      // It has gone again where a backup was loaded meanwhile, which may have its parts alone.
      if (await stored.has({ _id }))
        await stored.deleteMany({ _id: { $in: rows.map((row) => row._id) } });
    });
  }
}

/** The tab that led has made the change and ended: the live query shows what is stored. */
const isAnswerLost = (error: unknown) => (error as { code?: unknown }).code === 'answer_lost';

/** Whether these bytes are an update of version 1. */
export function isUpdate(update: unknown): update is Uint8Array {
  if (!(update instanceof Uint8Array)) return false;
  try {
    const { structs, ds } = Y.decodeUpdate(update);
    // One of version 2 begins with zeros, which read as nothing.
    return structs.length > 0 || ds.clients.size > 0 || update.length === 2;
  } catch {
    return false;
  }
}

/** What a Y.Doc has that these rows have not; `undefined`: nothing. */
export function missingUpdate(
  doc: Y.Doc,
  rows: readonly { readonly update: Uint8Array }[],
): Uint8Array | undefined {
  const stored = new Y.Doc({ gc: false });
  for (const { update } of rows) Y.applyUpdate(stored, update);
  let missing: Uint8Array | undefined;
  // Yjs tells of it only if something is new.
  stored.on('update', (update: Uint8Array) => {
    missing = update;
  });
  Y.applyUpdate(stored, Y.encodeStateAsUpdate(doc));
  stored.destroy();
  return missing;
}

/** So many rows are worth a merge. */
const MANY = 64;
/** In bytes. A row has to pass the limits of servers, and is written anew as a whole. */
const LARGEST = 1_000_000;
const SMALL = 4096;

type HasUpdate = { readonly update: Uint8Array };

/** The smallest rows, as many as one row may hold. */
function rowsThatFit<R extends HasUpdate>(all: readonly R[], growth = Infinity): R[] {
  const rows: R[] = [];
  let bytes = 0;
  for (const row of [...all].sort((a, b) => a.update.length - b.update.length)) {
    const { length } = row.update;
    if (length > growth * (bytes + SMALL) || bytes + length > LARGEST) break;
    rows.push(row);
    bytes += length;
  }
  return rows;
}

/**
 * The rows to merge after an edit; none, until there are many. A row that is much larger than all
 * smaller ones together stays: so each byte is written anew a few times only, in a long text too.
 */
function rowsWorthMerging<R extends HasUpdate>(all: readonly R[]): readonly R[] {
  const rows = rowsThatFit(all, 2);
  return rows.length < MANY ? [] : rows;
}

interface AwarenessChange {
  readonly added: number[];
  readonly updated: number[];
  readonly removed: number[];
}

/** What a new tab says: the others send what they know. */
const ASK = 'who';

/**
 * Shares the states of people between the tabs, by a channel: they are not stored. Nothing where
 * there are no channels.
 *
 * @returns ends it: the own state leaves the other tabs.
 */
function shareAwareness(awareness: Awareness, name: string, origin: object): () => void {
  if (typeof BroadcastChannel === 'undefined') return () => undefined;
  const channel = new BroadcastChannel(name);
  // It must not keep a process of Node alive.
  (channel as { unref?(): void }).unref?.();
  const own = [awareness.clientID];
  const send = (clients: number[]) => {
    if (clients.length > 0) channel.postMessage(encodeAwarenessUpdate(awareness, clients));
  };
  const tell = ({ added, updated, removed }: AwarenessChange, from: unknown) => {
    if (from !== origin) send([...added, ...updated, ...removed]);
  };
  channel.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (data === ASK) return send([...awareness.getStates().keys()]);
    try {
      applyAwarenessUpdate(awareness, data as Uint8Array, origin);
    } catch {
      // Any script of this origin may post anything here.
    }
  };
  // A page in the back/forward cache takes its state along.
  let left: ReturnType<Awareness['getLocalState']> = null;
  const leave = () => {
    left = awareness.getLocalState();
    removeAwarenessStates(awareness, own, 'left');
  };
  const enter = () => {
    if (left) awareness.setLocalState(left);
    left = null;
    channel.postMessage(ASK);
  };
  const page = globalThis as Partial<Pick<Window, 'addEventListener' | 'removeEventListener'>>;
  awareness.on('update', tell);
  page.addEventListener?.('pagehide', leave);
  page.addEventListener?.('pageshow', enter);
  send(own.filter((client) => awareness.getStates().has(client)));
  channel.postMessage(ASK);
  return () => {
    page.removeEventListener?.('pagehide', leave);
    page.removeEventListener?.('pageshow', enter);
    removeAwarenessStates(awareness, own, 'closed');
    awareness.off('update', tell);
    channel.close();
  };
}
