/**
 * The first documents by a key, ties in their given order, by a hand-written
 * bounded heap with the worst kept document on top.
 *
 * @template T
 * @param {readonly T[]} documents
 * @param {(document: T) => string | number} keyOf
 * @param {number} limit
 */
export function firstByHand(documents, keyOf, limit) {
  /** @type {Kept<T>[]} */
  const heap = [];
  for (let position = 0; position < documents.length; position++) {
    const document = /** @type {T} */ (documents[position]);
    const key = keyOf(document);
    if (heap.length < limit) {
      heap.push({ key, position, document });
      rise(heap);
    } else if (key < /** @type {Kept<T>} */ (heap[0]).key) {
      heap[0] = { key, position, document };
      sink(heap);
    }
  }
  return heap.sort((a, b) => (isWorse(a, b) ? 1 : -1)).map(({ document }) => document);
}

/** @template T @typedef {{ key: string | number, position: number, document: T }} Kept */

/** @param {Kept<unknown>} a @param {Kept<unknown>} b */
const isWorse = (a, b) => a.key > b.key || (a.key === b.key && a.position > b.position);

/** @param {Kept<any>[]} heap */
function rise(heap) {
  let at = heap.length - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!swapIfWorse(heap, at, parent)) return;
    at = parent;
  }
}

/** @param {Kept<any>[]} heap */
function sink(heap) {
  for (let at = 0; ; ) {
    const left = 2 * at + 1;
    if (left >= heap.length) return;
    const right = left + 1;
    const child =
      right < heap.length && isWorse(kept(heap, right), kept(heap, left)) ? right : left;
    if (!swapIfWorse(heap, child, at)) return;
    at = child;
  }
}

/** @param {Kept<any>[]} heap @param {number} child @param {number} parent */
function swapIfWorse(heap, child, parent) {
  const below = kept(heap, child);
  const above = kept(heap, parent);
  if (!isWorse(below, above)) return false;
  heap[parent] = below;
  heap[child] = above;
  return true;
}

/** @param {Kept<any>[]} heap @param {number} at */
const kept = (heap, at) => /** @type {Kept<any>} */ (heap[at]);
