/** @param {readonly number[]} values at least one */
export function summarize(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (/** @type {number} */ index) => /** @type {number} */ (sorted[index]);
  const half = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? at(half) : (at(half - 1) + at(half)) / 2;
  return { median, min: at(0), max: at(sorted.length - 1) };
}
