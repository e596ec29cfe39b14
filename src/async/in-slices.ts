import type { Clock } from './clock.ts';
import { nextTurn } from './next-turn.ts';

/** How long it may keep the thread before it yields. */
const SLICE_MS = 10;

/** Goes through items, and yields to other tasks every few milliseconds. */
export async function inSlices<T>(
  clock: Pick<Clock, 'elapsed'>,
  items: Iterable<T>,
  step: (item: T) => void,
): Promise<void> {
  let since = clock.elapsed();
  for (const item of items) {
    step(item);
    if (clock.elapsed() - since <= SLICE_MS) continue;
    await nextTurn();
    since = clock.elapsed();
  }
}
