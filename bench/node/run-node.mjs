import { execFile } from 'node:child_process';
import { cpus, release, type } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { makeFolder, removeFolder } from '../../tools/browsers/child.mjs';
import { randomNumbers } from '../page/documents.mjs';
import { shuffle, summarize } from '../page/statistics.mjs';
import { buildIfStale } from '../shared/build.mjs';
import { figure, printTable } from '../shared/print-table.mjs';
import { writeResults } from '../shared/results.mjs';
import { wholeNumber } from '../shared/whole-number.mjs';
import { contenders, overSqlite } from './contenders/all.mjs';
import { hasSqlite } from './contenders/sqlite.mjs';
import { runSteady } from './steady.mjs';

const PROCESS = fileURLToPath(new URL('contender-process.mjs', import.meta.url));
const start = promisify(execFile);

/** Of one level: with its name; of both: alike. */
const TITLES = {
  bulk: 'insert all until',
  single: 'one insert until',
  reopen: 'new process: open, 200 by an index',
  scan: 'then all documents, first time',
  'scan again': 'all documents once more',
};

/** @typedef {Map<string, Map<string, number[]>>} Measured by row, then by contender */

/**
 * Measures embedded databases in Node, each step in a process of its own, and what loops of awaited
 * writes starve. @param {string[]} args
 */
export async function runNode(args) {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '5' },
      size: { type: 'string', default: '10000' },
      seed: { type: 'string', default: '1' },
      dist: { type: 'string' },
      steady: { type: 'boolean', default: false },
      smoke: { type: 'boolean', default: false },
    },
  });
  const { smoke } = values;
  const rounds = smoke ? 1 : wholeNumber(values.rounds, '--rounds');
  const size = smoke ? 400 : wholeNumber(values.size, '--size');
  const seed = wholeNumber(values.seed, '--seed');
  const dist = values.dist === undefined ? buildIfStale() : resolve(values.dist);
  const steady = await runSteady(dist, smoke ? 0.2 : 10);
  if (values.steady) return;
  const machine = {
    node: process.version,
    cores: cpus().length,
    processor: cpus()[0]?.model ?? 'unknown',
    system: `${type()} ${release()}`,
  };
  const present = (await hasSqlite())
    ? contenders
    : contenders.filter((one) => !overSqlite.includes(one));
  if (present.length < contenders.length)
    console.log('better-sqlite3 is left out: npm install --no-save better-sqlite3 adds it');
  /** @type {Measured} */
  const measured = new Map();
  const random = randomNumbers(seed);
  for (let round = 0; round < rounds; round++)
    for (const contender of shuffle(present, random))
      for (const level of contender.levels)
        await measure(measured, contender.name, level, [dist, `${size}`, `${seed + round}`]);
  print(measured, present, `${size} documents, ${rounds} rounds, ${machine.node}`);
  const figures = [...measured].map(([row, by]) => ({ row, by: Object.fromEntries(by) }));
  const results = { at: new Date().toISOString(), smoke, machine, size, rounds, figures, steady };
  console.log(`\nwritten to ${writeResults(results, 'node')}`);
}

/**
 * @param {Measured} measured
 * @param {string} name
 * @param {import('./contender.mjs').Level} level
 * @param {string[]} rest
 */
async function measure(measured, name, level, rest) {
  const folder = makeFolder('bench');
  try {
    for (const step of ['insert', 'read']) {
      // Reading is the same for both levels.
      if (step === 'read' && level === 'synced') continue;
      const args = [PROCESS, step, name, level, folder, ...rest];
      const { stdout } = await start(process.execPath, args);
      for (const [figure, value] of Object.entries(JSON.parse(stdout))) {
        const title = TITLES[/** @type {keyof typeof TITLES} */ (figure)];
        const row = step === 'insert' ? `${title} ${level}` : title;
        const by = measured.get(row) ?? new Map();
        measured.set(row, by.set(name, [...(by.get(name) ?? []), value]));
      }
    }
  } finally {
    removeFolder(folder);
  }
}

/**
 * Medians in milliseconds, and as a multiple of the first contender's. @param {Measured} measured
 * @param {readonly import('./contender.mjs').Contender[]} present @param {string} title
 */
function print(measured, present, title) {
  const [first = '', ...others] = present.map(({ name }) => name);
  const rows = [...measured].map(([row, by]) => {
    const median = (/** @type {string} */ name) => {
      const values = by.get(name);
      return values && summarize(values).median;
    };
    const base = median(first) ?? Number.NaN;
    const cells = others.map((name) => {
      const value = median(name);
      return value === undefined ? '–' : `${figure(value)} (${(value / base).toFixed(2)})`;
    });
    return [row, figure(base), ...cells];
  });
  console.log(`\n${title}: ms (multiple of ${first})`);
  printTable([['', first, ...others], ...rows]);
}
