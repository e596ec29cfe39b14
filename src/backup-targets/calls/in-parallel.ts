/** Calls of a target under way at once: enough to hide the delay of a network, few enough for any server. */
export const AT_ONCE = 4;

/** Runs an async function over all items, a few at a time. @returns the results in order. */
export async function inParallel<T, R>(
  items: readonly T[],
  run: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) results[at] = await run(items[at] as T);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}
