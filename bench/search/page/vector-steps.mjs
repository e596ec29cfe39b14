import { wait } from '../../page/measure.mjs';
import { percentiles, SETTLE_MS, timed, usedMemory } from './steps.mjs';
import { cairnVectors } from './vector-contenders/cairn.mjs';
import { byHand, rxdbHelper } from './vector-contenders/in-memory.mjs';
import { vectorMaker } from './vectors.mjs';

/** @typedef {import('./steps.mjs').Terms} Terms */
/** @typedef {import('./steps.mjs').Figures} Figures */
/** @typedef {import('./vector-contender.mjs').Nearest} Nearest */

const contenders = [cairnVectors, byHand, rxdbHelper];

const QUERIES = 30;

/** @param {Terms} terms */
async function open({ contender: name, database, size, seed }, isFilled = true) {
  const contender = contenders.find((one) => one.name === name);
  if (!contender) throw new Error(`There is no contender ${name}.`);
  const store = await contender.open(database);
  if (isFilled && store.keepsNothing) await store.insertAll(size, vectorMaker(seed));
  return store;
}

/** Vectors of the same topics that are not stored. @param {Terms} terms */
const queriesOf = ({ seed }) => Array.from({ length: QUERIES }, vectorMaker(seed + 1000));

/** @param {Terms} terms @returns {Figures} */
async function insert(terms) {
  const store = await open(terms, false);
  const insert = await timed(() => store.insertAll(terms.size, vectorMaker(terms.seed)));
  await store.close();
  return store.keepsNothing ? {} : { insert };
}

/** @returns {Figures} */
async function filter() {
  return {};
}

/** @param {Terms} terms @returns {Figures} */
async function reload(terms) {
  const [query] = /** @type {[Float32Array]} */ (/** @type {unknown} */ (queriesOf(terms)));
  const before = await usedMemory();
  const from = performance.now();
  const store = await open(terms);
  await store.nearest(query, 10);
  const reload = performance.now() - from;
  await wait(SETTLE_MS);
  const MB = (await usedMemory()) - before;
  await store.close();
  return store.keepsNothing ? { MB } : { reload, MB };
}

/** @param {Terms} terms @returns {Figures} */
async function search(terms) {
  const queries = queriesOf(terms);
  const store = await open(terms);
  const all = async (/** @type {Nearest} */ nearest, /** @type {number} */ k) => {
    const [times, found] = [/** @type {number[]} */ ([]), /** @type {number[][]} */ ([])];
    for (const query of queries)
      times.push(await timed(async () => found.push(await nearest(query, k))));
    return { ...percentiles(times), found };
  };
  await store.nearest(/** @type {Float32Array} */ (queries[0]), 10);
  const exact = await all(store.nearest, 10);
  /** @type {Record<string, number>} */
  const figures = { p50: exact.p50, p90: exact.p90 };
  const inEngine = async (/** @type {boolean} */ isExact) => {
    const times = [];
    for (const query of queries) times.push((await store.inEngine?.(query, isExact)) ?? Number.NaN);
    return percentiles(times).p50;
  };
  if (store.inEngine) figures['engine p50'] = await inEngine(true);
  if (store.ofTenth) figures['criteria p50'] = (await all(store.ofTenth, 10)).p50;
  const { train, inCells } = store;
  if (train && inCells) {
    figures.training = await timed(async () => {
      figures['recall said'] = 100 * (await train(/** @type {Float32Array} */ (queries[0])));
    });
    const ten = await all(inCells, 10);
    const hundred = await all(inCells, 100);
    Object.assign(figures, { 'cells p50': ten.p50, 'cells p90': ten.p90 });
    figures['engine cells p50'] = await inEngine(false);
    figures['cells 100 p50'] = hundred.p50;
    figures['recall 10'] = recall(exact.found, ten.found);
    figures['recall 100'] = recall((await all(store.nearest, 100)).found, hundred.found);
  }
  await store.close();
  return figures;
}

/** Percent of what is right that was found. @param {number[][]} right @param {number[][]} found */
function recall(right, found) {
  const hits = right.flatMap((list, at) => list.filter((n) => found[at]?.includes(n)));
  return (100 * hits.length) / right.flat().length;
}

export const vectorSteps = { contenders, insert, filter, reload, search };
