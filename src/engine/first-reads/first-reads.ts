import { run } from '../../async/coroutine.ts';
import { nextTurn } from '../../async/next-turn.ts';
import { isFirstRead } from '../../protocol/operations.ts';
import type { Request } from '../../protocol/requests.ts';
import type { CollectionContext } from '../collection-context.ts';
import { DocumentStore } from '../documents/document-store.ts';
import type { StoredState } from './newer-segments.ts';
import { StoredRecords } from './stored-records.ts';

/** What an opening has read, where there may be no checkpoint. */
type ReadState = Omit<StoredState, 'checkpoint'> & {
  readonly checkpoint: StoredState['checkpoint'] | undefined;
};

/** The value of a reply. */
export interface FirstAnswer {
  readonly value: unknown;
}

/**
 * Answers reads while a collection is being opened, from its checkpoint: an opening reads all
 * segments, a first read only those that it needs. What it cannot answer waits for the opening, as
 * all changes do; so no answer misses one. docs/decisions/040-first-reads.md says why the answers
 * are right.
 */
export class FirstReads {
  readonly #context: CollectionContext;
  #ready: Promise<StoredRecords | undefined>;
  #settle: (records: StoredRecords | undefined) => void = () => undefined;
  readonly #inFlight = new Set<Promise<unknown>>();
  /** By cursor, the stores of scans that were not read to their end. */
  readonly #scans = new Map<number, DocumentStore>();
  #isOver = false;
  #records: StoredRecords | undefined;
  #foundDamage = false;

  constructor(context: CollectionContext) {
    this.#context = context;
    this.#ready = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Lets the first reads go ahead. Resolves when those that have come by now are answered. */
  async begin(state: ReadState): Promise<void> {
    const records = state.checkpoint && new StoredRecords(this.#context, state as StoredState);
    this.#records = records;
    this.#settle(records);
    if (!records) return;
    // The first calls follow the request that opens the collection.
    await this.pause();
  }

  /**
   * Resolves when those in flight are answered, which would compete with the opening for storage.
   * Lets others come: files are read without a turn of the event loop.
   *
   * @returns whether to make room for others: there were some since the last pause.
   */
  async pause(): Promise<boolean> {
    const records = this.#records;
    if (!records) return false;
    await nextTurn();
    await Promise.all(this.#inFlight);
    return records.room.take();
  }

  /** Whether the checkpoint was found to be damaged; known at the end. */
  get foundDamage(): boolean {
    return this.#foundDamage;
  }

  /**
   * No more are answered: the collection is open, or has failed to. Resolves when those in flight
   * are.
   */
  async end(): Promise<void> {
    this.#isOver = true;
    this.#settle(undefined);
    await Promise.all(this.#inFlight);
    this.#foundDamage = this.#records?.isDamaged === true;
    // Its pages and documents are not needed any more.
    this.#records = undefined;
    this.#ready = Promise.resolve(undefined);
  }

  /**
   * Answers a read; `undefined` where it has to wait for the opening. Never rejects: opening meets
   * the failure too.
   *
   * @param version Of the documents, as the handle knows them.
   */
  answer(
    request: Request,
    version: number | undefined,
  ): Promise<FirstAnswer | undefined> | undefined {
    const { expire_after } = this.#context.settings;
    if (this.#isOver || expire_after || !isAnswerable(request)) return undefined;
    const answering = this.#answer(request, version).catch(() => undefined);
    this.#inFlight.add(answering);
    void answering.then(() => this.#inFlight.delete(answering));
    return answering;
  }

  /** Goes on with a scan that {@link answer} has begun; `undefined` where it has not. */
  resume(request: Request): FirstAnswer | undefined {
    if (request.op !== 'scanNext' && request.op !== 'scanEnd') return undefined;
    const { cursor } = request;
    const store = this.#scans.get(cursor);
    if (!store) return undefined;
    // Without a wait: all bodies are at hand, and few.
    const value = run(store.execute(request));
    if (!cursorOf(value)) this.#scans.delete(cursor);
    return { value };
  }

  async #answer(request: Request, version: number | undefined): Promise<FirstAnswer | undefined> {
    const stored = await this.#ready;
    if (this.#context.records.log.version !== version) return undefined;
    const found = await stored?.find(request);
    if (!found) return undefined;
    const store = new DocumentStore(found);
    const value = await run(store.execute(request));
    const cursor = cursorOf(value);
    if (cursor !== undefined) this.#scans.set(cursor, store);
    return { value };
  }
}

function cursorOf(reply: unknown): number | undefined {
  return (reply as { cursor?: number } | undefined)?.cursor;
}

/** Whether a checkpoint may have the answer. Shared documents are those of the open collection. */
function isAnswerable(request: Request): boolean {
  const { transaction, at, mayHang, related, after, shared } = request as Request<'scan'>;
  const mustWait = transaction !== undefined || at || mayHang || related || after || shared;
  return !mustWait && isFirstRead(request);
}
