/** @param {readonly number[]} values at least one */
export function summarize(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (/** @type {number} */ index) => /** @type {number} */ (sorted[index]);
  const half = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? at(half) : (at(half - 1) + at(half)) / 2;
  return { median, min: at(0), max: at(sorted.length - 1), runs: sorted.length };
}

/**
 * A shuffled copy, deterministic for the same numbers.
 *
 * @template T
 * @param {readonly T[]} list
 * @param {() => number} random from 0 up to 1
 */
export function shuffle(list, random) {
  const shuffled = [...list];
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    const kept = /** @type {T} */ (shuffled[last]);
    shuffled[last] = /** @type {T} */ (shuffled[other]);
    shuffled[other] = kept;
  }
  return shuffled;
}
