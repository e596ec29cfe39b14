import { nextTurn } from '../../async/next-turn.ts';
import type { SerialQueue } from '../../async/serial-queue.ts';
import { asCairnError } from '../../errors/errors.ts';
import type { ExpirySettings } from '../../protocol/settings.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { CollectionContext } from '../collection-context.ts';
import { IndexDeclaration } from '../documents/index-keeper.ts';
import type { LiveQueries } from '../live/live-queries.ts';
import { Expiry } from './expiry-times.ts';

/** Records that are removed in one turn: a few milliseconds. */
const SLICE = 256;

/**
 * Milliseconds until the clock is looked at again, at most. Timers stand still while a computer
 * sleeps, take no more than 24.8 days, and do not follow a clock that is set.
 */
const LOOK_MS = 15_000;

/** The same while changes of an earlier engine are replayed. */
const RECOVERY_MS = 200;

interface SweptCollection {
  /** The versions of documents that the rules are for. */
  readonly versions: ReadonlySet<number>;
  readonly queue: SerialQueue;
  readonly lives: LiveQueries;
  /** Must be called after changes: saves them, and tells live queries of them. */
  readonly settle: () => void;
}

/**
 * Removes what has expired, slice by slice, as requests of its own: others come in between. A
 * removal is saved, and live queries and `change` events tell of it, but it is no change for the
 * server of a replication.
 */
export class ExpirySweep {
  readonly #context: CollectionContext;
  readonly #expiry: Expiry;
  readonly #collection: SweptCollection;
  #state: 'new' | 'started' | 'stopped' = 'new';
  /** The next look at the clock, by the monotonic one. */
  #next: { readonly at: number; readonly cancel: () => void } | undefined;
  #running: Promise<void> | undefined;
  /** Whether all that has expired has to be pushed to a server first. */
  #isHeld = false;

  /** @param context Gets the rules, and an index of its own: without it nothing is answered. */
  constructor(context: CollectionContext, settings: ExpirySettings, collection: SweptCollection) {
    const expiry = new Expiry(context, settings, collection.versions);
    this.#context = context;
    this.#expiry = expiry;
    this.#collection = collection;
    context.records.expiry = expiry;
    // It counts for documents of every version.
    context.keeper.own = new IndexDeclaration([expiry.definition], 0);
    expiry.behind = () => this.#lookIn(0);
  }

  /** Must be called when the collection is open. */
  start(): void {
    this.#state = 'started';
    this.check();
  }

  /** Removes nothing more, and ends the timer. */
  stop(): void {
    this.#state = 'stopped';
    this.#next?.cancel();
    this.#next = undefined;
  }

  /** Must be called after changes. */
  check(): void {
    const first = this.#expiry.first();
    if (!Number.isFinite(first)) return;
    const left = this.#context.isRecovered() ? first - this.#expiry.now() : RECOVERY_MS;
    this.#lookIn(Math.min(Math.max(left, 0), LOOK_MS));
  }

  /** Removes all that has expired, unless it has to be pushed first. */
  async drain(): Promise<void> {
    // It may be opening.
    await this.#context.keeper.own?.pending;
    await this.#running;
    await this.#run();
  }

  #lookIn(ms: number): void {
    if (this.#state !== 'started' || this.#running) return;
    const { clock } = this.#context;
    const wait = this.#isHeld ? LOOK_MS : ms;
    const at = clock.elapsed() + wait;
    if (this.#next && this.#next.at <= at) return;
    this.#next?.cancel();
    const look = (): void => {
      this.#next = undefined;
      this.#isHeld = false;
      void this.#run();
    };
    this.#next = { at, cancel: clock.after(wait, look, true) };
  }

  #run(): Promise<void> {
    this.#running ??= this.#sweep()
      .catch((error: unknown) => {
        this.#isHeld = true;
        this.#context.events.failed(asCairnError(error));
      })
      .finally(() => {
        this.#running = undefined;
        this.check();
      });
    return this.#running;
  }

  async #sweep(): Promise<void> {
    const { queue, lives, settle } = this.#collection;
    // At once, not slice by slice.
    if (this.#expiry.hidden > SLICE) lives.reload();
    for (;;) {
      const removed = await queue.enter(true, () => this.#removeSlice());
      if (removed > 0) {
        settle();
        this.#context.events.sendChanges();
      }
      if (removed < SLICE) return;
      await nextTurn();
    }
  }

  /** @returns how many it has removed. */
  #removeSlice(): number {
    const { availability, replica, versions } = this.#context;
    if (availability.error || this.#state === 'stopped') return 0;
    const isUnpushed = ({ key }: StoredRecord) => replica?.expire(key) === false;
    const expired = this.#expiry.expired(SLICE, isUnpushed);
    for (const record of expired) versions.expire(record);
    this.#isHeld = expired.length < SLICE && this.#expiry.hidden > 0;
    return expired.length;
  }
}
