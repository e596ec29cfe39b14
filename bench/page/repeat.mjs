import { measure, middle, time } from './measure.mjs';

/**
 * Repeats a function until a count or a time is reached.
 *
 * @param {number} count
 * @param {number} patience in milliseconds
 * @param {(index: number) => unknown} act
 * @returns {Promise<{ ms: number, done: number }>} in all, and how often
 */
export async function repeat(count, patience, act) {
  const { result } = await measure(async () => {
    const start = performance.now();
    let done = 0;
    while (done < count) {
      await act(done++);
      if (performance.now() - start > patience) break;
    }
    return { ms: performance.now() - start, done };
  });
  return result;
}

/**
 * Repeats a query and returns the median time.
 *
 * @param {number} runs
 * @param {number} patience in milliseconds
 * @param {(run: number) => unknown} ask
 */
export async function askOften(runs, patience, ask) {
  /** @type {number[]} */
  const times = [];
  await repeat(runs, patience, async (run) => {
    times.push((await time(() => ask(run))).ms);
  });
  return middle(times);
}
