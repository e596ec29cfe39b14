import { type Watermark, Watermarks } from '../../storage/segments/watermarks.ts';
import { type IdempotencyKey, watermarkKey } from '../protocol/idempotency-key.ts';
import type { Clock } from '../scheduling/clock.ts';
import type { Coroutine } from '../scheduling/coroutine.ts';

/** The client handles whose changes a save carries, by {@link watermarkKey}. */
export type ChangedHandles = ReadonlySet<string>;

/**
 * The changes of clients that a collection has applied, saved or not. A change that a client replays or retries is
 * applied only if it is not in here.
 */
export class AppliedChanges {
  readonly #clock: Clock;
  readonly #applied = new Watermarks();
  /** Handles with changes that no save has taken yet. */
  #unsaved = new Set<string>();
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
    return handles;
  }

  /** A save failed: the next carries its changes. */
  restore(handles: ChangedHandles): void {
    for (const handle of handles) this.#unsaved.add(handle);
  }

  /** A save made these durable. */
  release(watermarks: readonly Watermark[]): void {
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
