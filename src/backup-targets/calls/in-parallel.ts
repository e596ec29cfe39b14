/** Calls of a target under way at once: enough to hide the delay of a network, few enough for any server. */
export const AT_ONCE = 4;

/** Runs an async function over all items, a few at a time; after a failure no more. Settles once none runs. @returns the results in order. */
export async function inParallel<T, R>(
  items: readonly T[],
  run: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  let failure: { readonly cause: unknown } | undefined;
  const work = async (): Promise<void> => {
    for (let at = next++; at < items.length && !failure; at = next++) {
      try {
        results[at] = await run(items[at] as T);
      } catch (cause) {
        failure ??= { cause };
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (failure) throw (failure as { readonly cause: unknown }).cause;
  return results;
}
