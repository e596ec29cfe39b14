import type { Clock } from './clock.ts';

/**
 * Resolves in a later task, after whatever waits already had its turn. Not `setTimeout`: browsers
 * hold nested timers back by 4 ms each (HTML standard), and fake timers of tests stop it. Not
 * `scheduler.yield`: it goes on ahead of other tasks, and so keeps timers and messages of the page
 * waiting for as long as there is work.
 */
export function nextTurn(): Promise<void> {
  // jsdom has no MessageChannel. There a microtask will do: no user waits for the page.
  if (!globalThis.MessageChannel) return Promise.resolve();
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

/**
 * Calls a function in a microtask. Not `queueMicrotask`: Jest's fake timers replace it, and each
 * call of a database would wait until the test advances them.
 */
export function inMicrotask(call: () => void): void {
  Promise.resolve().then(call);
}

/** How long it may keep the thread before it yields. */
const SLICE_MS = 10;

/**
 * Called after each step of a long work, it yields to other tasks every few milliseconds;
 * `undefined` where it is not time.
 */
export function slicer(clock: Pick<Clock, 'elapsed'>): () => Promise<void> | undefined {
  let since = clock.elapsed();
  return () => {
    if (clock.elapsed() - since <= SLICE_MS) return undefined;
    return nextTurn().then(() => {
      since = clock.elapsed();
    });
  };
}

/** Goes through items, and yields to other tasks every few milliseconds. */
export async function inSlices<T>(
  clock: Pick<Clock, 'elapsed'>,
  items: Iterable<T>,
  step: (item: T) => void,
): Promise<void> {
  const pause = slicer(clock);
  for (const item of items) {
    step(item);
    const pausing = pause();
    if (pausing) await pausing;
  }
}
