import { measure, middle, time } from './measure.mjs';

/**
 * Does something many times, one after another, until it was done often enough or for long enough.
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
 * Asks the same kind of question many times and gives the middle of the times.
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
