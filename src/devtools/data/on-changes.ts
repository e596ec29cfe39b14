import type { InspectedDatabase } from '../inspect/inspected-database.ts';

const WAIT_MS = 250;

/** Calls back after changes of a collection, at most four times a second. @returns a function that ends it. */
export function onChanges(
  { activity }: InspectedDatabase,
  collection: string,
  update: () => void,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = activity.on((entry) => {
    if (entry.collection !== collection || !['change', 'restore'].includes(entry.kind)) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      update();
    }, WAIT_MS);
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}
