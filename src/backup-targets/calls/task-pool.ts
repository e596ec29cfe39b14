/**
 * Calls of a target under way at once: enough to hide the delay of a network, few enough for any
 * server.
 */
export const AT_ONCE = 4;

/** Runs tasks a few at a time, for a producer that waits for room. The first failure ends it. */
export class TaskPool {
  readonly #running = new Set<Promise<void>>();
  #failure: { readonly cause: unknown } | undefined;

  /** Resolves once the task has begun. */
  async add(task: () => Promise<void>): Promise<void> {
    while (this.#running.size >= AT_ONCE) await Promise.race(this.#running);
    this.#check();
    const running: Promise<void> = task()
      .catch((cause: unknown) => {
        this.#failure ??= { cause };
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves once all tasks have. */
  async end(): Promise<void> {
    await Promise.all(this.#running);
    this.#check();
  }

  #check(): void {
    if (this.#failure) throw this.#failure.cause;
  }
}

/**
 * Runs an async function over all items, a few at a time. After a failure no more begin; it settles
 * once none runs.
 *
 * @returns the results in order.
 */
export async function inParallel<T, R>(
  items: readonly T[],
  run: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const pool = new TaskPool();
  try {
    for (const [at, item] of items.entries())
      await pool.add(async () => {
        results[at] = await run(item);
      });
  } finally {
    await pool.end();
  }
  return results;
}
