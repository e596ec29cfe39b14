import type { Body } from '../../codec/body.ts';
import { asCairnError } from '../../errors/as-cairn-error.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { LiveNews } from '../protocol/live-protocol.ts';
import type { RecordStore } from '../records/record-store.ts';
import type { Clock } from '../scheduling/clock.ts';
import { type Coroutine, run } from '../scheduling/coroutine.ts';
import { nextTurn } from '../scheduling/next-turn.ts';
import type { LiveResult } from './live-result.ts';

/** What a reader reads. */
export interface Reading {
  readonly result: LiveResult;
  readonly records: RecordStore;
  readonly clock: Clock;
  /** Milliseconds from one result to the next at the least. */
  readonly throttle: number;
  /** Whether what changes is looked at only when that is asked for. */
  readonly mayHang: boolean;
  /** Called when nothing is read any more. */
  readonly left: () => void;
}

/**
 * One who reads a live query. Nothing is computed before what was told last has been taken in: what
 * changes meanwhile is remembered by key. One that is mayHang tells that something changed, and computes what
 * became of it when that has been taken in.
 *
 * ```
 * new ──begin──▶ busy ◀──changed── idle
 *                 │ └──nothing left──▶ │
 *                 └──────▶ ended ◀─────┘
 * ```
 */
export class LiveReader {
  readonly #tell: (news: LiveNews) => void;
  #reading: Reading | undefined;
  /** Keys of what changed while the reader was busy. */
  #touched = new Set<string>();
  /** Whether all records may have changed. */
  #stale = false;
  #busy = false;
  #ended = false;
  /** Whether something is being computed, and who waits until it is not. */
  #working = false;
  #rested: (() => void) | undefined;
  /** Goes on with what waits for the reader, or for time to pass. */
  #taken: (() => void) | undefined;
  /** Whether what was told last is that something changed. */
  #toldChange = false;
  #wake: (() => void) | undefined;
  /** Whether a whole result was told. */
  #ready = false;
  /** Called once the next whole result is told, or nothing is left to tell. */
  #caughtUp: (() => void)[] = [];
  /** As above, for what changed after the result that is being computed was begun. */
  #caughtUpNext: (() => void)[] = [];

  constructor(tell: (news: LiveNews) => void) {
    this.#tell = tell;
  }

  /** Begins with the result as of now. */
  begin(reading: Reading): void {
    this.#reading = reading;
    if (this.#ended) reading.left();
    else this.#start(undefined);
  }

  /** Takes in that the records with these keys have changed. */
  changed(keys: ReadonlySet<string>): void {
    let all = keys;
    if (this.#busy || this.#reading?.mayHang) {
      for (const key of keys) this.#touched.add(key);
      all = this.#touched;
    }
    if (!this.#busy) this.#start(all);
  }

  /** Takes in that other records have taken the place of all. */
  reload(): void {
    this.#stale = true;
    if (!this.#busy) this.#start(this.#touched);
  }

  /**
   * What was told last has been taken in.
   *
   * @param mayHang Whether patterns may be tried. Where they would be and may not, it is about what was told before, by
   *   an engine that is gone.
   */
  next(mayHang: boolean): void {
    if (!this.#taken || this.#ended || (this.#toldChange && !mayHang)) return;
    this.#working = true;
    this.#taken();
    this.#taken = undefined;
  }

  /** Waits until it has told something, or has nothing to tell. */
  *resting(): Coroutine<undefined> {
    while (this.#working) {
      yield new Promise<void>((resolve) => {
        this.#rested = resolve;
      });
    }
    return undefined;
  }

  /**
   * Resolves once it has told every change so far; `undefined` where it has. Not for a query that has told nothing yet,
   * one that waits by its options, or one with a pattern: its result comes by requests of its own.
   */
  catchUp(changed: ReadonlySet<RecordStore>): Promise<void> | undefined {
    if (!this.#reading || !this.#ready || this.#ended) return undefined;
    const { throttle, mayHang, records } = this.#reading;
    if (throttle > 0 || mayHang || !changed.has(records)) return undefined;
    const isBehind = this.#touched.size > 0 || this.#stale;
    if (!isBehind && !this.#working) return undefined;
    return new Promise((resolve) => {
      (isBehind ? this.#caughtUpNext : this.#caughtUp).push(resolve);
    });
  }

  /** Tells why there is nothing more to tell, and ends. */
  fail(error: unknown): void {
    if (this.#ended) return;
    this.#tell({ error: asCairnError(error) });
    this.end();
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#touched.clear();
    this.#reading?.left();
    this.#taken?.();
    this.#wake?.();
    this.#rest();
    this.#releaseAll();
  }

  #releaseAll(): void {
    this.#caughtUp.push(...this.#caughtUpNext.splice(0));
    this.#release();
  }

  /** Lets go on who waited for what was just told. */
  #release(): void {
    for (const resolve of this.#caughtUp.splice(0)) resolve();
  }

  #start(keys: ReadonlySet<string> | undefined): void {
    this.#busy = this.#working = true;
    try {
      const running = run(this.#read(this.#reading as Reading, keys));
      if (running instanceof Promise) running.catch((error: unknown) => this.fail(error));
    } catch (error) {
      this.fail(error);
    }
  }

  *#read(reading: Reading, first: ReadonlySet<string> | undefined): Coroutine<void> {
    for (let keys = first; !this.#ended; keys = this.#touched) {
      // What changes until it is taken in is among these keys.
      if (keys && reading.mayHang) yield this.#told({ changed: true });
      if (keys === this.#touched) this.#touched = new Set();
      this.#caughtUp.push(...this.#caughtUpNext.splice(0));
      if ((yield* this.#deliver(reading, keys)) && reading.throttle > 0) yield this.#sleep(reading);
      if (this.#touched.size === 0 && !this.#stale) break;
    }
    // Here and not when the promise settles: what changes in between must start anew.
    this.#busy = false;
    this.#rest();
    this.#releaseAll();
  }

  #rest(): void {
    this.#working = false;
    this.#rested?.();
  }

  /** Tells what is new, and waits until it has been taken in. */
  *#deliver(
    { result, records }: Reading,
    keys: ReadonlySet<string> | undefined,
  ): Coroutine<boolean> {
    if (this.#stale) {
      this.#stale = false;
      result.reload();
    } else if (keys) {
      const bodies = yield* bodiesOf(records, keys);
      if (!result.update(keys, (record) => record.body ?? (bodies?.get(record) as Body)))
        return false;
    }
    const release = records.pin();
    let news: LiveNews | undefined;
    try {
      for (;;) {
        news = yield* result.next();
        if (!news || this.#ended) return false;
        if (!('more' in news && news.more)) break;
        yield this.#told(news);
        // A reader in this thread takes it in at once, and would let nobody else have a turn until the last.
        yield nextTurn();
        if (this.#ended) return false;
      }
    } finally {
      release();
    }
    // A reader that takes its time must not keep compaction waiting.
    yield this.#told(news);
    return !this.#ended;
  }

  #told(news: LiveNews): Promise<void> {
    return new Promise((resolve) => {
      this.#taken = resolve;
      this.#toldChange = 'changed' in news;
      this.#tell(news);
      if (!('more' in news && news.more)) {
        this.#ready = true;
        this.#release();
      }
      this.#rest();
    });
  }

  #sleep({ clock, throttle }: Reading): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(throttle, resolve, true);
      this.#wake = () => {
        cancel();
        resolve();
      };
      this.#rest();
    });
  }
}

/**
 * The bodies of changed records that are in memory no more. Returns once all that these keys stand for is
 * at hand at the same moment: a result must not mix what was true at different times.
 */
function* bodiesOf(
  records: RecordStore,
  keys: ReadonlySet<string>,
): Coroutine<ReadonlyMap<StoredRecord, Body> | undefined> {
  let bodies: Map<StoredRecord, Body> | undefined;
  for (;;) {
    const missing: StoredRecord[] = [];
    for (const key of keys) {
      const record = records.get(key);
      if (record && record.body === undefined && !bodies?.has(record)) missing.push(record);
    }
    if (missing.length === 0) return bodies;
    bodies ??= new Map();
    const read = yield* records.bodies.ofAll(missing);
    for (const [index, record] of missing.entries()) bodies.set(record, read[index] as Body);
  }
}
