import { cosineSimilarity } from 'rxdb/plugins/vector';

/**
 * What an app does without an index: all vectors in memory of the page, and a loop over them. They
 * are made anew after a reload, which is not measured.
 *
 * @param {string} name
 * @param {string} title
 * @param {(vector: Float32Array) => any} keep
 * @param {(a: any, b: any) => number} score
 * @returns {import('../vector-contender.mjs').Contender}
 */
const inMemory = (name, title, keep, score) => ({
  name,
  title,
  async open() {
    /** @type {any[]} */
    let rows = [];
    return {
      keepsNothing: true,
      async insertAll(count, make) {
        rows = Array.from({ length: count }, () => keep(make()));
      },
      async nearest(query, k) {
        const own = keep(query);
        const scored = rows.map((row, n) => ({ n, score: score(own, row) }));
        return scored
          .sort((a, b) => b.score - a.score)
          .slice(0, k)
          .map(({ n }) => n);
      },
      close: async () => {},
    };
  },
});

/** As its docs show it: documents have arrays of numbers. */
export const rxdbHelper = inMemory(
  'rxdb-helper',
  "RxDB's cosineSimilarity, page",
  (vector) => [...vector],
  cosineSimilarity,
);

/** @param {Float32Array} a @param {Float32Array} b */
function cosine(a, b) {
  let [dot, left, right] = [0, 0, 0];
  for (let at = 0; at < a.length; at++) {
    const x = /** @type {number} */ (a[at]);
    const y = /** @type {number} */ (b[at]);
    dot += x * y;
    left += x * x;
    right += y * y;
  }
  return dot / Math.sqrt(left * right);
}

export const byHand = inMemory('by-hand', 'a loop over Float32Arrays, page', (one) => one, cosine);
