import { wait } from '../../page/measure.mjs';
import {
  cairnCached,
  cairnFiles,
  cairnPlain,
  cairnThread,
  cairnWorker,
} from './contenders/cairn.mjs';
import { fts5 } from './contenders/fts5.mjs';
import { miniSearch } from './contenders/minisearch.mjs';
import { orama } from './contenders/orama.mjs';
import { percentiles, SETTLE_MS, timed, usedMemory, watchBlocks } from './steps.mjs';
import { makeArticles, makeQueries } from './texts.mjs';

/** @typedef {import('./steps.mjs').Terms} Terms */
/** @typedef {import('./steps.mjs').Figures} Figures */

const cairn = [cairnWorker, cairnCached, cairnFiles, cairnThread, cairnPlain];
const contenders = [...cairn, miniSearch, orama, fts5];

const QUERIES = 200;

/** @param {Terms} terms */
function open({ contender: name, database }) {
  const contender = contenders.find((one) => one.name === name);
  if (!contender) throw new Error(`There is no contender ${name}.`);
  return contender.open(database);
}

/** @param {Terms} terms @returns {Figures} */
async function insert(terms) {
  const articles = makeArticles(terms.size, terms.seed);
  const store = await open(terms);
  const longest = watchBlocks();
  const insert = await timed(() => store.insertMany(articles));
  const blocked = longest();
  await store.close();
  return { insert, blocked };
}

/** Until documents come by another index. @param {Terms} terms @returns {Figures} */
async function filter(terms) {
  const from = performance.now();
  const store = await open(terms);
  await store.first?.();
  const filter = performance.now() - from;
  await store.close();
  return store.first ? { filter } : {};
}

/** @param {Terms} terms @returns {Figures} */
async function reload(terms) {
  const words = queriesOf(terms)[0]?.words ?? '';
  const before = await usedMemory();
  const from = performance.now();
  const store = await open(terms);
  if (!store.isSilent) await store.search(words, { prefix: false });
  const reload = performance.now() - from;
  await wait(SETTLE_MS);
  const MB = (await usedMemory()) - before;
  await store.close();
  return store.isSilent ? { MB } : { reload, MB };
}

/** @param {Terms} terms @returns {Figures} */
async function search(terms) {
  const queries = queriesOf(terms);
  const store = await open(terms);
  /** @type {Record<string, number>} */
  const figures = {};
  if (store.isSilent) queries.length = 0;
  for (const kind of /** @type {const} */ (['words', 'typed'])) {
    for (const pass of ['first', 'again']) {
      const times = [];
      let hits = 0;
      for (const query of queries) {
        const options = { prefix: kind === 'typed' };
        times.push(
          await timed(async () => {
            hits += (await store.search(query[kind], options)).length;
          }),
        );
      }
      if (times.length === 0) continue;
      const { p50, p90 } = percentiles(times);
      Object.assign(figures, { [`${kind} ${pass} p50`]: p50, [`${kind} ${pass} p90`]: p90 });
      figures[`${kind} hits`] = hits / queries.length;
    }
  }
  await store.close();
  return figures;
}

/** @param {Terms} terms */
function queriesOf({ size, seed }) {
  return makeQueries(makeArticles(Math.min(size, 1000), seed), QUERIES, seed);
}

export const textSteps = { contenders, insert, filter, reload, search };
