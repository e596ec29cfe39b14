const isMeasured = PerformanceObserver.supportedEntryTypes.includes('longtask');

/**
 * Watches for tasks that block the page for more than 50 ms, as the Long Tasks API defines them.
 */
export class LongTasks {
  #longest = 0;
  readonly #observer = new PerformanceObserver((list) => this.#take(list.getEntries()));

  constructor() {
    if (isMeasured) this.#observer.observe({ type: 'longtask' });
  }

  /**
   * The longest task so far in milliseconds, 0 if all were short, `undefined` where no one
   * measures.
   */
  get longest(): number | undefined {
    this.#take(this.#observer.takeRecords());
    return isMeasured ? this.#longest : undefined;
  }

  stop(): void {
    this.#observer.disconnect();
  }

  #take(entries: PerformanceEntryList): void {
    for (const { duration } of entries) this.#longest = Math.max(this.#longest, duration);
  }
}
