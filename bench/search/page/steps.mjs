import { wait } from '../../page/measure.mjs';

/**
 * @typedef {{ kind: string, contender: string, database: string, size: number, seed: number }}
 *   Terms
 */

/** @typedef {Promise<Record<string, number>>} Figures */

export const SETTLE_MS = 1000;

/** @param {() => Promise<unknown>} task */
export async function timed(task) {
  const from = performance.now();
  await task();
  return performance.now() - from;
}

/** The longest time in which the page did not come to other tasks. */
export function watchBlocks() {
  let [longest, last] = [0, performance.now()];
  const { port1, port2 } = new MessageChannel();
  let isOver = false;
  port1.onmessage = () => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    if (isOver) port1.close();
    else setTimeout(() => port2.postMessage(undefined), 4);
  };
  port2.postMessage(undefined);
  return () => {
    isOver = true;
    return longest;
  };
}

/** @param {number[]} times */
export function percentiles(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (/** @type {number} */ share) => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { p50: at(0.5), p90: at(0.9) };
}

/** Of the page and its workers, in MB; NaN where Chromium does not answer. */
export async function usedMemory() {
  const measured = /** @type {any} */ (performance).measureUserAgentSpecificMemory();
  const answer = await Promise.race([measured, wait(20_000)]);
  return answer ? answer.bytes / 1e6 : Number.NaN;
}
