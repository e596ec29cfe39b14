/** No wait is longer: storage that has recovered is noticed within so many milliseconds. */
const LAST_MS = 30_000;

/** Waits before something that failed is tried again: the first, then each twice as long as the one before. */
export class Backoff {
  readonly #firstMs: number;
  #waitMs = 0;

  constructor(firstMs: number) {
    this.#firstMs = firstMs;
  }

  /** Milliseconds to wait by now; 0 where the last attempt did not fail. */
  get waitMs(): number {
    return this.#waitMs;
  }

  /** Returns the milliseconds to wait. */
  failed(): number {
    this.#waitMs = Math.min(Math.max(this.#waitMs * 2, this.#firstMs), LAST_MS);
    return this.#waitMs;
  }

  succeeded(): void {
    this.#waitMs = 0;
  }
}
