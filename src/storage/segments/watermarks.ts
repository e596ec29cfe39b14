/**
 * The highest applied change of a client's handle.
 *
 * - `origin`: client and handle.
 * - `number`: the highest applied sequence number.
 * - `at`: time of that change, in Unix milliseconds.
 * - `missed`: lower sequence numbers that were not applied.
 */
export type Watermark = readonly [
  origin: string,
  number: number,
  at: number,
  missed?: readonly number[] | undefined,
];

/** Lifetime of a watermark: far longer than a page keeps unsaved changes. */
export const KEPT_MS = 7 * 24 * 3600 * 1000;

/** How many of the newest watermarks stay at any time, because the clock may be wrong. */
const KEPT_AT_LEAST = 256;

/** Missed numbers that a watermark remembers; clients never retry older ones. */
const MISSED_AT_MOST = 256;

/**
 * The changes that a collection contains, by client and handle. A client replays acknowledged
 * changes that it does not know to be saved; watermarks keep saved ones from being applied twice.
 * Sequence numbers of a handle are consecutive. docs/decisions/017-tabs.md has the reasons.
 */
export class Watermarks {
  /** Least recently noted first. */
  readonly #byHandle = new Map<string, Watermark>();
  /** The origin that was noted last: a batch has many changes of one handle. */
  #last: string | undefined;

  get(origin: string): Watermark | undefined {
    return this.#byHandle.get(origin);
  }

  /** The highest number of an origin, 0 for none. */
  of(origin: string): number {
    return this.#byHandle.get(origin)?.[1] ?? 0;
  }

  has(origin: string, number: number): boolean {
    const watermark = this.#byHandle.get(origin);
    return watermark !== undefined && number <= watermark[1] && !watermark[3]?.includes(number);
  }

  /** Notes that a change is applied. */
  note(origin: string, number: number, at: number): void {
    const [, last = 0, , missed] = this.#byHandle.get(origin) ?? [];
    if (number === last + 1) this.#put([origin, number, at, missed]);
    else if (number <= last) {
      if (missed?.includes(number))
        this.#put([origin, last, at, missed.filter((one) => one !== number)]);
    } else {
      const skipped = Array.from({ length: number - last - 1 }, (_, index) => last + 1 + index);
      const all = [...(missed ?? []), ...skipped].slice(-MISSED_AT_MOST);
      this.#put([origin, number, at, all]);
    }
  }

  /** Adds watermarks that were stored later than these, in the order in which they were stored. */
  merge(newer: Iterable<Watermark>): void {
    for (const watermark of newer) if (watermark[1] >= this.of(watermark[0])) this.#put(watermark);
  }

  #put(watermark: Watermark): void {
    const [origin] = watermark;
    if (origin !== this.#last) this.#byHandle.delete(origin);
    this.#last = origin;
    this.#byHandle.set(origin, watermark);
  }

  [Symbol.iterator](): Iterator<Watermark> {
    return this.#byHandle.values();
  }

  /** The watermarks of changes that clients may still replay, least recently noted first. */
  recent(): readonly Watermark[] {
    const all = [...this.#byHandle.values()];
    const last = all.at(-1)?.[2] ?? 0;
    const older = all.length - KEPT_AT_LEAST;
    return all.filter(([, , at], index) => index >= older || Math.abs(last - at) < KEPT_MS);
  }
}
