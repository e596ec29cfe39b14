/** @param {number} ms */
export const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

let settlingMs = 50;

/**
 * How long to wait on both sides of a collection of garbage before something is measured. @param
 * {number} ms
 */
export function settleFor(ms) {
  settlingMs = ms;
}

/** Lets what came before end, so that nobody pays for the garbage of another. */
async function settle() {
  await wait(settlingMs);
  /** @type {{ gc?: () => void }} */ (globalThis).gc?.();
  await wait(settlingMs);
}

/**
 * Runs something once.
 *
 * @template T
 * @param {() => T | Promise<T>} run
 * @returns {Promise<{ ms: number, result: T }>}
 */
export async function time(run) {
  const start = performance.now();
  const result = await run();
  return { ms: performance.now() - start, result };
}

/**
 * Runs the measured function once earlier work has ended, with a profile
 * if requested.
 *
 * @template T
 * @param {() => T | Promise<T>} run
 * @returns {Promise<{ ms: number, result: T }>}
 */
export async function measure(run) {
  const profiler = /** @type {Profiler} */ (globalThis);
  await settle();
  await profiler.startProfile?.();
  const measured = await time(run);
  await profiler.stopProfile?.();
  return measured;
}

/** The median. @param {number[]} times */
export function middle(times) {
  return /** @type {number} */ (times.sort((a, b) => a - b)[times.length >> 1]);
}

/**
 * The median time of many runs in milliseconds. Fast calls show only when warm, and
 * between two clock ticks of 5 µs.
 *
 * @param {number} runs
 * @param {(run: number) => unknown} ask
 */
export async function measureMiddle(runs, ask) {
  const { result } = await measure(async () => {
    const times = [];
    for (let run = 0; run < runs; run++) times.push((await time(() => ask(run))).ms);
    return middle(times);
  });
  return result;
}

/** @typedef {{ startProfile?: () => Promise<void>, stopProfile?: () => Promise<void> }} Profiler */

/** The usual threshold below which users do not notice a blocked page. */
const UNNOTICED_MS = 50;

/**
 * Runs a function once and measures how long it blocked the page: by the gaps between ticks of a
 * timer, and by the browser's long tasks. Timers also starve when many short tasks outrank them,
 * and so do frames. Frames are not measured: requesting them makes the browser paint, which costs
 * contenders that yield more than those that block.
 *
 * @param {() => Promise<unknown>} run
 * @returns {Promise<{ ms: number, longest: number, beyond: number, longTask: number }>} in
 *   milliseconds: the run, the longest gap, what gaps took beyond 50 ms, the longest task
 */
export async function timeAndWatch(run) {
  const gaps = watchGaps();
  let longTask = 0;
  const note = (/** @type {PerformanceEntryList} */ entries) => {
    for (const { duration } of entries) longTask = Math.max(longTask, duration);
  };
  const observer = new PerformanceObserver((list) => note(list.getEntries()));
  const { ms } = await measure(() => {
    observer.observe({ entryTypes: ['longtask'] });
    gaps.begin();
    return run();
  });
  await wait(20); // the task that ended the run is over
  note(observer.takeRecords());
  observer.disconnect();
  return { ms, ...gaps.end(), longTask };
}

/** The gaps between two ticks of a timer. */
function watchGaps() {
  let longest = 0;
  let beyond = 0;
  let last = performance.now();
  const beat = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    beyond += Math.max(0, now - last - UNNOTICED_MS);
    last = now;
    handle = window.setTimeout(beat);
  };
  let handle = window.setTimeout(beat);
  return {
    begin() {
      last = performance.now();
      longest = 0;
      beyond = 0;
    },
    end() {
      clearTimeout(handle);
      return { longest, beyond };
    },
  };
}
