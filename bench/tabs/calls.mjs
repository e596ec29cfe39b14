/**
 * @typedef {import('./tab.mjs').Tab} Tab
 * @typedef {import('./tab.mjs').TabScope} TabScope
 */

/**
 * Microseconds of each of so many calls, one after the other. @param {Tab} tab @param {number}
 * count
 */
export const serialCalls = (tab, count) =>
  tab.evaluate(async (calls) => {
    const { things } = /** @type {TabScope} */ (/** @type {unknown} */ (window));
    await things.upsert({ _id: 'one' });
    const start = performance.now();
    for (let n = 0; n < calls; n++) await things.get('one');
    return ((performance.now() - start) * 1000) / calls;
  }, count);

/** Microseconds of each of so many inserts, all at once. @param {Tab} tab @param {number} count */
export const insertsAtOnce = (tab, count) =>
  tab.evaluate(async (inserts) => {
    const { things, db } = /** @type {TabScope} */ (/** @type {unknown} */ (window));
    const documents = Array.from({ length: inserts }, (_, n) => ({
      name: `Somebody ${n}`,
      address: { city: 'Somewhere', zip: 10_000 + n },
      tags: ['a', 'b'],
      n,
    }));
    const start = performance.now();
    await Promise.all(documents.map((document) => things.insert(document)));
    const us = ((performance.now() - start) * 1000) / inserts;
    await db.save();
    return us;
  }, count);
