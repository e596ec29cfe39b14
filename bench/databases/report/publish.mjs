import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { ROOT } from '../../../tools/setup.mjs';
import { drawPlots } from './plots.mjs';
import { rank } from './ranking.mjs';
import { writePage } from './write-page.mjs';

const FOLDER = `${ROOT}docs/benchmarks`;

/**
 * Writes tables, plots and raw figures of one size.
 *
 * @param {import('../results.mjs').Results} results
 * @param {number} size
 * @returns {string} the path of the page, as seen from the repository
 */
export function publish(results, size) {
  mkdirSync(FOLDER, { recursive: true });
  const rankings = rank(results, size);
  const plots = drawPlots(rankings, size);
  for (const { file, svg } of plots) writeFileSync(`${FOLDER}/${file}`, svg);
  writeFileSync(`${FOLDER}/${size}.json`, rawFigures(results, size));
  const page = `${FOLDER}/${size}.md`;
  writeFileSync(page, writePage(results, size, rankings, plots));
  return relative(ROOT, page);
}

/** Writes the pages of all measured sizes. @param {string} file with its raw figures */
export function publishFile(file) {
  /** @type {import('../results.mjs').Results} */
  const results = JSON.parse(readFileSync(file, 'utf8'));
  const sizes = new Set(results.measured.map(({ size }) => size).filter((size) => size > 0));
  for (const size of sizes) console.log(`written to ${publish(results, size)}`);
}

/**
 * One line per figure, for readable diffs. `--continue` takes it too.
 *
 * @param {import('../results.mjs').Results} results
 * @param {number} size
 */
function rawFigures({ measured, failures, contenders, long = [], ...about }, size) {
  const lines = (/** @type {readonly unknown[]} */ list) =>
    `[\n${list.map((each) => `    ${JSON.stringify(each)}`).join(',\n')}\n  ]`;
  const own = measured
    .filter((it) => it.size === size || it.size === 0)
    .map((it) => ({ ...it, values: it.values.map((value) => Number(value.toPrecision(5))) }));
  const parts = [
    ...Object.entries(about).map(([name, value]) => `"${name}": ${JSON.stringify(value)}`),
    `"contenders": ${lines(contenders)}`,
    `"failures": ${lines(failures.filter((it) => it.size === size))}`,
    `"long": ${lines(long.filter((it) => it.size === size))}`,
    `"measured": ${lines(own)}`,
  ];
  return `{\n  ${parts.join(',\n  ')}\n}\n`;
}
