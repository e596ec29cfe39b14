import { parseArgs } from 'node:util';
import { makeFolder, removeFolder } from '../../tools/browsers/child.mjs';
import { launchChromium } from '../../tools/browsers/chromium.mjs';
import { randomNumbers } from '../page/documents.mjs';
import { shuffle, summarize } from '../page/statistics.mjs';
import { buildIfStale } from '../shared/build.mjs';
import { buildPage } from '../shared/build-page.mjs';
import { bytesIn } from '../shared/bytes-in.mjs';
import { describeMachine, machineLine } from '../shared/machine.mjs';
import { figure, printTable } from '../shared/print-table.mjs';
import { writeResults } from '../shared/results.mjs';
import { startServer } from '../shared/server.mjs';
import { wholeNumber } from '../shared/whole-number.mjs';

/** @typedef {import('./page/steps.mjs').Terms} Terms */
/** @typedef {import('./page/main.mjs').Bench} Bench */
/** @typedef {Map<string, Map<string, number[]>>} Measured by figure, then by contender */

/** @type {Record<string, string>} */
const TEXTS = {
  insert: 'insert all until stored',
  blocked: 'longest block of the page meanwhile',
  disk: 'MB on disk',
  filter: 'reload to 20 documents by another index',
  reload: 'reload to the first search',
  MB: 'MB of memory then',
  'words first p50': 'two words, first time, p50',
  'words first p90': 'p90',
  'words again p50': 'once more, p50',
  'words again p90': 'p90',
  'words hits': 'hits',
  'typed first p50': 'the second one cut, first time, p50',
  'typed first p90': 'p90',
  'typed again p50': 'once more, p50',
  'typed again p90': 'p90',
  'typed hits': 'hits',
};

/** @type {Record<string, string>} */
const VECTORS = {
  insert: 'insert all until stored',
  disk: 'MB on disk',
  reload: 'reload to the first search',
  MB: 'MB of memory then',
  p50: 'nearest 10, p50',
  p90: 'p90',
  'engine p50': 'in the engine, without documents, p50',
  'criteria p50': 'of a tenth by an index, p50',
  training: 'training of cells',
  'cells p50': 'nearest 10 in cells, p50',
  'cells p90': 'p90',
  'engine cells p50': 'in the engine, without documents, p50',
  'cells 100 p50': 'nearest 100 in cells, p50',
  'recall 10': 'recall of 10, %',
  'recall 100': 'recall of 100, %',
  'recall said': 'recall that explain expects, %',
};

const ARGS = ['--enable-blink-features=ForceEagerMeasureMemory'];

/** Where Chromium keeps IndexedDB, and the origin private file system. */
const STORAGE = ['Default/IndexedDB', 'Default/File System'];

/** Compares searches over texts and vectors. @param {string[]} args */
export async function runSearch(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      sizes: { type: 'string', default: '10000,100000' },
      rounds: { type: 'string', default: '3' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string' },
      smoke: { type: 'boolean', default: false },
    },
  });
  const { smoke } = values;
  const rounds = smoke ? 1 : wholeNumber(values.rounds, '--rounds');
  const seed = wholeNumber(values.seed, '--seed');
  const asked = smoke ? '400' : values.sizes;
  const sizes = asked.split(',').map((size) => wholeNumber(size, '--sizes'));
  const kinds = positionals.length > 0 ? positionals : ['texts', 'vectors'];
  const server = await startServer({ '/page': await buildPage('search'), '/dist': buildIfStale() });
  try {
    const machine = await describeMachine();
    console.log(machineLine(machine));
    const results = [];
    for (const kind of kinds)
      for (const size of sizes) {
        const measured = await measureAll(`${server.origin()}/page/index.html`, {
          ...{ kind, size, seed, rounds, only: values.only?.split(',') },
        });
        print(measured, kind === 'texts' ? TEXTS : VECTORS, `${size} ${kind}, ${rounds} rounds`);
        const figures = [...measured].map(([row, by]) => ({ row, by: Object.fromEntries(by) }));
        results.push({ kind, size, figures });
      }
    const about = { at: new Date().toISOString(), smoke, machine, rounds, seed, results };
    console.log(`\nwritten to ${writeResults(about, 'search')}`);
  } finally {
    server.close();
  }
}

/**
 * All contenders take turns, each in a new profile, each step on a fresh page.
 *
 * @param {string} url
 * @param {{ kind: string, size: number, seed: number, rounds: number, only: string[] | undefined
 *   }} terms
 */
async function measureAll(url, { kind, size, seed, rounds, only }) {
  /** @type {Measured} */
  const measured = new Map();
  const random = randomNumbers(seed);
  const all = await namesOf(url, kind);
  const names = all.filter((name) => !only || only.includes(name));
  for (const name of names) measured.set('', new Map(measured.get('')).set(name, []));
  for (let round = 0; round < rounds; round++)
    for (const contender of shuffle(names, random)) {
      const note = (/** @type {Record<string, number>} */ figures) => {
        for (const [row, value] of Object.entries(figures)) {
          const by = measured.get(row) ?? new Map();
          measured.set(row, by.set(contender, [...(by.get(contender) ?? []), value]));
        }
      };
      console.log(`  ${kind}, ${size}, round ${round + 1}: ${contender}`);
      await live(url, { kind, contender, database: `${contender}-${size}`, size, seed }, note);
    }
  return measured;
}

/** @param {string} url @param {string} kind @returns {Promise<string[]>} */
async function namesOf(url, kind) {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage(url);
    return await page.evaluate((of) => {
      const { bench } = /** @type {{ bench: Bench }} */ (/** @type {unknown} */ (globalThis));
      return bench.names(of);
    }, kind);
  } finally {
    await browser.close();
  }
}

/**
 * @param {string} url
 * @param {Terms} terms
 * @param {(figures: Record<string, number>) => void} note
 */
async function live(url, terms, note) {
  const profile = makeFolder('search');
  const visit = async (
    /** @type {readonly ('insert' | 'filter' | 'reload' | 'search')[]} */ steps,
  ) => {
    const browser = await launchChromium({ profile, args: ARGS });
    try {
      for (const step of steps) {
        const page = await browser.newPage(url);
        const figures = await page.evaluate(
          ([of, given]) => {
            const { bench } = /** @type {{ bench: Bench }} */ (/** @type {unknown} */ (globalThis));
            return bench[of](given);
          },
          /** @type {const} */ ([step, terms]),
        );
        note(figures);
        await page.close();
      }
    } finally {
      await browser.close();
    }
  };
  try {
    await visit(['insert']);
    note({ disk: STORAGE.reduce((sum, at) => sum + bytesIn(`${profile}/${at}`), 0) / 1e6 });
    await visit(['filter', 'reload', 'search']);
  } finally {
    removeFolder(profile);
  }
}

/** Medians, and as a multiple of the first contender's. @param {Measured} measured @param
 * {Record<string, string>} titles @param {string} title */
function print(measured, titles, title) {
  const names = [...(measured.get('')?.keys() ?? [])];
  const [first = ''] = names;
  const rows = Object.entries(titles).flatMap(([row, words]) => {
    const by = measured.get(row);
    if (!by) return [];
    const median = (/** @type {string} */ name) => {
      const values = by.get(name);
      return values && summarize(values).median;
    };
    const base = median(first) ?? Number.NaN;
    const cells = names.map((name) => {
      const value = median(name);
      if (value === undefined) return '–';
      const ratio = Number.isNaN(base) || name === first ? '' : ` (${(value / base).toFixed(2)})`;
      return figure(value) + ratio;
    });
    return [[words, ...cells]];
  });
  console.log(`\n${title}: ms where nothing else is said (multiple of ${first})`);
  printTable([['', ...names], ...rows]);
}
