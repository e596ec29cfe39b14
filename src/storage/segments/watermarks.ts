/**
 * How far the changes are stored that a client made through one of its handles.
 *
 * - `origin`: the client and its handle.
 * - `number`: the highest of the numbers that it gave them.
 * - `at`: when it was noted, in Unix milliseconds.
 * - `missed`: lower numbers that were not made.
 */
export type Watermark = readonly [
  origin: string,
  number: number,
  at: number,
  missed?: readonly number[] | undefined,
];

/** Far longer than any page keeps changes that it was told of and that were not saved. */
const KEPT_MS = 7 * 24 * 3600 * 1000;

/** So many of those that were noted last stay whatever the clock says: it may be wrong, and set right. */
const KEPT_AT_LEAST = 256;

/** Of those that failed so many are remembered; nobody asks for older ones again. */
const MISSED_AT_MOST = 256;

/**
 * Which changes of clients are among those of a collection. Clients hand on what they were told of and have not
 * heard to be saved; what was saved all the same must not be made twice.
 *
 * A client numbers the changes that it makes through a handle one after the other.
 */
export class Watermarks {
  /** In the order in which they were noted last. */
  readonly #byHandle = new Map<string, Watermark>();

  get size(): number {
    return this.#byHandle.size;
  }

  get(origin: string): Watermark | undefined {
    return this.#byHandle.get(origin);
  }

  /** The highest number of an origin, 0 where there is none. */
  of(origin: string): number {
    return this.#byHandle.get(origin)?.[1] ?? 0;
  }

  has(origin: string, number: number): boolean {
    const mark = this.#byHandle.get(origin);
    return mark !== undefined && number <= mark[1] && !mark[3]?.includes(number);
  }

  /** Notes that a change is made. */
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

  /** Takes in marks that know of all that these know: what was stored later, or after these; in the order of that. */
  merge(marks: Iterable<Watermark>): void {
    for (const mark of marks) if (mark[1] >= this.of(mark[0])) this.#put(mark);
  }

  #put(mark: Watermark): void {
    this.#byHandle.delete(mark[0]);
    this.#byHandle.set(mark[0], mark);
  }

  /** Until when a client may ask for any of them, in Unix milliseconds. */
  get keptUntil(): number {
    return Math.max(0, ...Array.from(this.#byHandle.values(), ([, , at]) => at)) + KEPT_MS;
  }

  clear(): void {
    this.#byHandle.clear();
  }

  [Symbol.iterator](): Iterator<Watermark> {
    return this.#byHandle.values();
  }

  /** Those that a client may still ask for, in the order in which they were noted. */
  recent(): readonly Watermark[] {
    const all = [...this.#byHandle.values()];
    const last = all.at(-1)?.[2] ?? 0;
    const older = all.length - KEPT_AT_LEAST;
    return all.filter(([, , at], index) => index >= older || Math.abs(last - at) < KEPT_MS);
  }
}
