import type { Clock } from '../../async/clock.ts';
import { type Coroutine, run } from '../../async/coroutine.ts';
import { nextTurn } from '../../async/next-turn.ts';
import type { Body } from '../../codec/body.ts';
import { isPromise } from '../../codec/kinds.ts';
import { asCairnError } from '../../errors/errors.ts';
import type { LiveEvent } from '../../protocol/event-protocol.ts';
import type { LiveUpdate } from '../../protocol/live-protocol.ts';
import type { Request } from '../../protocol/requests.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { RecordStore } from '../records/record-store.ts';
import type { MaintainedResult } from './live-result.ts';

/** The live query of a reader. */
export interface Reading {
  readonly result: MaintainedResult;
  readonly records: RecordStore;
  readonly clock: Clock;
  /** Minimum milliseconds between two results. */
  readonly throttle: number;
  /** Whether changes are evaluated only on request. */
  readonly mayHang: boolean;
  /** Called when the reader ends. */
  readonly left: () => void;
}

/** What a reader is doing. */
type ReaderState =
  | { readonly is: 'new' | 'idle' | 'ended' }
  /** Computes a result; a request may wait for its end. */
  | { readonly is: 'working'; rested?: () => void }
  /** The client has not acknowledged the last update, which only announced a change or not. */
  | { readonly is: 'unacknowledged'; readonly announced: boolean; readonly goOn: () => void }
  | { readonly is: 'throttled'; readonly goOn: () => void };

/**
 * A reader of a live query. It computes no result before its client has acknowledged the last one;
 * until then it collects the keys of changes. A mayHang reader announces a change first, and
 * evaluates it once that is acknowledged.
 *
 * ```
 * new ──begin──▶ working ◀────changed─────┐
 *                 │ ▲ └──nothing left──▶ idle
 *            update ▼ │ next, time
 *       unacknowledged, throttled        all ──end──▶ ended
 * ```
 *
 * docs/decisions/011-live-queries.md has the reasons.
 */
export class LiveReader {
  readonly #emit: (update: LiveUpdate) => void;
  #reading: Reading | undefined;
  #state: ReaderState = { is: 'new' };
  /** Keys that changed while the reader was busy. */
  #touched = new Set<string>();
  /** Whether all records may have changed. */
  #stale = false;
  /** Whether a whole result was sent. */
  #ready = false;
  /** Called when the next whole result is sent, or nothing differs. */
  #caughtUp: (() => void)[] = [];
  /** The same for changes since the start of the running computation. */
  #caughtUpNext: (() => void)[] = [];

  constructor(emit: (update: LiveUpdate) => void) {
    this.#emit = emit;
  }

  /** Starts with the current result. */
  begin(reading: Reading): void {
    this.#reading = reading;
    if (this.#hasEnded) reading.left();
    else this.#start(undefined);
  }

  /**
   * Must be called when the records of these keys have changed.
   *
   * @param areResident Whether their bodies are in memory. Most changes concern few of the readers;
   *   the others then answer without a coroutine.
   */
  changed(keys: ReadonlySet<string>, areResident: boolean): void {
    const isIdle = this.#state.is === 'idle';
    if (!isIdle || this.#reading?.mayHang) for (const key of keys) this.#touched.add(key);
    if (!isIdle) return;
    if (this.#reading?.mayHang) this.#start(this.#touched);
    else if (!areResident) this.#start(keys);
    else if (this.#updates(keys)) this.#start(undefined);
  }

  #updates(keys: ReadonlySet<string>): boolean {
    try {
      return (this.#reading as Reading).result.update(keys, (one) => one.body as Body);
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  /** Must be called when all records were replaced. */
  reload(): void {
    this.#stale = true;
    if (this.#state.is === 'idle') this.#start(this.#touched);
  }

  /**
   * Must be called when the client acknowledges the last update.
   *
   * @param mayHang Whether patterns may run. If they would but may not, this acknowledges the
   *   update of a lost engine.
   */
  next(mayHang: boolean): void {
    const state = this.#state;
    if (state.is !== 'unacknowledged' || (state.announced && !mayHang)) return;
    this.#enter({ is: 'working' });
    state.goOn();
  }

  /** Waits until no result is being computed. */
  *resting(): Coroutine<undefined> {
    for (let state = this.#state; state.is === 'working'; state = this.#state) {
      const working = state;
      yield new Promise<void>((resolve) => {
        working.rested = resolve;
      });
    }
    return undefined;
  }

  /**
   * Resolves when the reader has sent every change so far; `undefined` if it has. Not for a query
   * without a first result, with a throttle, or with a pattern, whose results come by requests of
   * their own.
   */
  catchUp(changed: ReadonlySet<RecordStore>): Promise<void> | undefined {
    if (!this.#reading || !this.#ready || this.#hasEnded) return undefined;
    const { throttle, mayHang, records, result } = this.#reading;
    const { sources = [records] } = result;
    if (throttle > 0 || mayHang || !sources.some((one) => changed.has(one as RecordStore)))
      return undefined;
    const isBehind = this.#touched.size > 0 || this.#stale;
    if (!isBehind && this.#state.is !== 'working') return undefined;
    return new Promise((resolve) => {
      (isBehind ? this.#caughtUpNext : this.#caughtUp).push(resolve);
    });
  }

  /** Sends the error and ends. */
  fail(error: unknown): void {
    if (this.#hasEnded) return;
    this.#emit({ error: asCairnError(error) });
    this.end();
  }

  end(): void {
    if (this.#hasEnded) return;
    const before = this.#state;
    this.#enter({ is: 'ended' });
    this.#touched.clear();
    this.#reading?.left();
    if ('goOn' in before) before.goOn();
    this.#releaseAll();
  }

  get #hasEnded(): boolean {
    return this.#state.is === 'ended';
  }

  /** Every transition. */
  #enter(state: ReaderState): void {
    const before = this.#state;
    if (before.is === 'ended') return;
    this.#state = state;
    if (before.is === 'working') before.rested?.();
  }

  #releaseAll(): void {
    this.#caughtUp.push(...this.#caughtUpNext.splice(0));
    this.#release();
  }

  /** Resolves the requests that waited for the result just sent. */
  #release(): void {
    for (const resolve of this.#caughtUp.splice(0)) resolve();
  }

  #start(keys: ReadonlySet<string> | undefined): void {
    this.#enter({ is: 'working' });
    try {
      const running = run(this.#read(this.#reading as Reading, keys));
      if (isPromise(running)) running.catch((error: unknown) => this.fail(error));
    } catch (error) {
      this.fail(error);
    }
  }

  *#read(reading: Reading, first: ReadonlySet<string> | undefined): Coroutine<void> {
    for (let keys = first; !this.#hasEnded; keys = this.#touched) {
      // Changes until the acknowledgement are among these keys.
      if (keys && reading.mayHang) yield this.#send({ changed: true });
      if (keys === this.#touched) this.#touched = new Set();
      this.#caughtUp.push(...this.#caughtUpNext.splice(0));
      if ((yield* this.#deliver(reading, keys)) && reading.throttle > 0) yield this.#sleep(reading);
      if (this.#touched.size === 0 && !this.#stale) break;
    }
    // Here, not when the promise settles: a change in between must start anew.
    this.#enter({ is: 'idle' });
    this.#releaseAll();
  }

  /** Sends the new result, part by part, and waits for each acknowledgement. */
  *#deliver(
    { result, records }: Reading,
    changed: ReadonlySet<string> | undefined,
  ): Coroutine<boolean> {
    let keys = changed;
    const bodies = new Map<StoredRecord, Body>();
    while (keys && !this.#stale) {
      yield* loadBodies(records, keys, bodies);
      if (this.#touched.size === 0) break;
      // What has changed meanwhile may be of one transaction with these.
      keys = new Set([...keys, ...this.#touched]);
      this.#touched = new Set();
      this.#caughtUp.push(...this.#caughtUpNext.splice(0));
    }
    if (this.#stale) {
      this.#stale = false;
      result.reload();
    } else if (keys && !result.update(keys, (one) => one.body ?? (bodies.get(one) as Body)))
      return false;
    const release = records.pin();
    let update: LiveUpdate | undefined;
    try {
      for (;;) {
        update = yield* result.next();
        if (!update || this.#hasEnded) return false;
        if (!('more' in update && update.more)) break;
        yield this.#send(update);
        // A reader in this thread acknowledges at once, so other requests would starve until the
        // last part.
        yield nextTurn();
        if (this.#hasEnded) return false;
      }
    } finally {
      release();
    }
    // A slow reader must not block compaction.
    yield this.#send(update);
    return !this.#hasEnded;
  }

  #send(update: LiveUpdate): Promise<void> {
    return new Promise((goOn) => {
      this.#enter({ is: 'unacknowledged', announced: 'changed' in update, goOn });
      this.#emit(update);
      if ('more' in update && update.more) return;
      this.#ready = true;
      this.#release();
    });
  }

  #sleep({ clock, throttle }: Reading): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        this.#enter({ is: 'working' });
        resolve();
      };
      const cancel = clock.after(throttle, wake, true);
      this.#enter({ is: 'throttled', goOn: wake });
    });
  }
}

/**
 * Loads the bodies of changed records that are no longer in memory. Returns when all are loaded at
 * the same moment: a result must not mix states of different times.
 *
 * @param bodies Those loaded so far; the others are added.
 */
function* loadBodies(
  records: RecordStore,
  keys: ReadonlySet<string>,
  bodies: Map<StoredRecord, Body>,
): Coroutine<void> {
  for (;;) {
    const missing: StoredRecord[] = [];
    for (const key of keys) {
      const record = records.table.get(key);
      if (record && record.body === undefined && !bodies.has(record)) missing.push(record);
    }
    if (missing.length === 0) return;
    const read = yield* records.bodies.ofAll(missing);
    for (const [index, record] of missing.entries()) bodies.set(record, read[index] as Body);
  }
}

/** The live queries of a session, by the client's number. */
export class SessionLives {
  readonly #emit: (event: LiveEvent) => void;
  readonly #readers = new Map<number, LiveReader>();

  constructor(emit: (event: LiveEvent) => void) {
    this.#emit = emit;
  }

  /** The reader of a request, if it is about a live query. */
  readerFor(request: Request): LiveReader | undefined {
    switch (request.op) {
      case 'live': {
        const { live } = request;
        const reader = new LiveReader((update) =>
          this.#emit({ type: 'live', detail: { live, news: update } }),
        );
        this.#readers.set(live, reader);
        return reader;
      }
      case 'liveNext':
        return this.#readers.get(request.live);
      case 'liveEnd': {
        const reader = this.#readers.get(request.live);
        this.#readers.delete(request.live);
        return reader;
      }
      default:
        return undefined;
    }
  }

  /**
   * Resolves when all queries of these collections have sent the changes so far; `undefined` if
   * they have.
   */
  catchUp(collections: Iterable<{ readonly records: RecordStore }>): Promise<unknown> | undefined {
    if (this.#readers.size === 0) return undefined;
    const changed = new Set(Array.from(collections, ({ records }) => records));
    const waiting: Promise<void>[] = [];
    for (const reader of this.#readers.values()) {
      const caughtUp = reader.catchUp(changed);
      if (caughtUp) waiting.push(caughtUp);
    }
    return waiting.length > 0 ? Promise.all(waiting) : undefined;
  }

  endAll(): void {
    for (const reader of this.#readers.values()) reader.end();
    this.#readers.clear();
  }
}
