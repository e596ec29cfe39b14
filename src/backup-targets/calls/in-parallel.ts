import { TaskPool } from './task-pool.ts';

/**
 * Runs an async function over all items, a few at a time. After a failure no more begin; it settles once none runs.
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
