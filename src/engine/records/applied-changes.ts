import { type Watermark, Watermarks } from '../../storage/segments/watermarks.ts';
import {
  type IdempotencyKey,
  parseWatermarkKey,
  watermarkKey,
} from '../protocol/idempotency-key.ts';
import type { Clock } from '../scheduling/clock.ts';
import type { Coroutine } from '../scheduling/coroutine.ts';

/** The client handles whose changes a save carries, by {@link watermarkKey}. */
export type ChangedHandles = ReadonlySet<string>;

const none: ChangedHandles = new Set();

/**
 * The changes of clients that a collection has applied, saved or not. A change that a client replays or retries is
 * applied only if it is not in here.
 */
export class AppliedChanges {
  readonly #clock: Clock;
  readonly #applied = new Watermarks();
  /** Handles with changes that no save has taken yet. */
  #unsaved = new Set<string>();
  /** Handles whose changes are being saved. */
  #saving: ChangedHandles = none;
  /** Watermarks of durable changes that {@link takeReleased} has not returned yet. */
  #released: Watermark[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Adds what storage has. Must be called once the log is open. */
  load(stored: Iterable<Watermark>): void {
    this.#applied.merge(stored);
  }

  has(key: IdempotencyKey): boolean {
    return this.#applied.has(watermarkKey(key), key.number);
  }

  /** Must be called in the same turn as the change. */
  note(key: IdempotencyKey): void {
    const handle = watermarkKey(key);
    this.#applied.note(handle, key.number, this.#clock.now());
    this.#unsaved.add(handle);
  }

  /** Notes a change that may have to wait, in the turn in which it ends: no save comes in between. */
  *noteAfter<T>(
    change: Coroutine<T>,
    key: IdempotencyKey,
    isApplied: (value: T) => boolean,
  ): Coroutine<T> {
    const value = yield* change;
    if (isApplied(value)) this.note(key);
    return value;
  }

  /** Whether another client has made changes that are not durable yet. */
  hasUnsavedOfOthers(client: string): boolean {
    const isOther = (handle: string) => parseWatermarkKey(handle).client !== client;
    return [...this.#unsaved, ...this.#saving].some(isOther);
  }

  /** The watermarks of all applied changes. */
  get watermarks(): readonly Watermark[] {
    return [...this.#applied];
  }

  watermarksOf(handles: ChangedHandles): Watermark[] {
    return Array.from(handles, (handle) => this.#applied.get(handle) as Watermark);
  }

  /** The handles whose changes the save that begins now carries. */
  takeUnsaved(): ChangedHandles {
    const handles = this.#unsaved;
    this.#unsaved = new Set();
    this.#saving = handles;
    return handles;
  }

  /** A save failed: the next carries its changes. */
  restore(handles: ChangedHandles): void {
    this.#saving = none;
    for (const handle of handles) this.#unsaved.add(handle);
  }

  /** A save made these durable. */
  release(watermarks: readonly Watermark[]): void {
    this.#saving = none;
    this.#released.push(...watermarks);
  }

  /**
   * Watermarks of the changes that became durable since the last call.
   *
   * @param nothingUnsaved Whether no record waits for a save: one inserted and deleted between two saves leaves none.
   */
  takeReleased(nothingUnsaved: boolean): readonly Watermark[] {
    if (nothingUnsaved && this.#unsaved.size > 0)
      this.release(this.watermarksOf(this.takeUnsaved()));
    const released = this.#released;
    this.#released = [];
    return released;
  }
}
