/**
 * node tools/sizes.mjs: checks the limits of .size-limit.mjs, and that docs/bundle-size.md shows
 * the sizes of this build. With --write it writes them there.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { bin, ROOT } from './setup.mjs';

/** @typedef {{ name: string, passed: boolean, size: number, sizeLimit: number }} Entry */

const PAGE = `${ROOT}docs/bundle-size.md`;
const TABLE = /(?<=<!-- sizes -->\n).*(?=<!-- end of sizes -->)/s;
/** Smaller differences come from names that the minifier chose. */
const TOLERANCE = 0.02;

const kilobytes = (/** @type {number} */ bytes) => (bytes / 1000).toFixed(bytes < 10_000 ? 2 : 1);

function measure() {
  const { stdout, stderr } = spawnSync(bin('size-limit'), ['--json'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  try {
    return /** @type {Entry[]} */ (JSON.parse(stdout));
  } catch {
    throw new Error(`size-limit failed: ${stderr || stdout}`);
  }
}

/** @param {readonly Entry[]} entries */
function tableOf(entries) {
  const rows = entries.map(
    ({ name, size, sizeLimit }) => `| ${name} | ${kilobytes(size)} | ${kilobytes(sizeLimit)} |`,
  );
  return ['| Part | kB | Limit |', '|---|---:|---:|', ...rows, ''].join('\n');
}

/** @param {string} table @returns {Map<string, number>} */
const documentedIn = (table) =>
  new Map(
    table
      .split('\n')
      .slice(2)
      .map((row) => row.split('|').map((cell) => cell.trim()))
      .map(([, name = '', size]) => [name, Number(size) * 1000]),
  );

const entries = measure();
for (const { name, size, sizeLimit, passed } of entries) {
  console.log(`${passed ? ' ' : '✗'} ${kilobytes(size)} kB of ${kilobytes(sizeLimit)}  ${name}`);
}
const page = readFileSync(PAGE, 'utf8');
if (process.argv.includes('--write')) {
  writeFileSync(PAGE, page.replace(TABLE, tableOf(entries)));
} else {
  const documented = documentedIn(page.match(TABLE)?.[0] ?? '');
  const stale = entries
    .filter(({ name, size }) => Math.abs((documented.get(name) ?? 0) - size) > size * TOLERANCE)
    .map(({ name }) => name);
  if (stale.length > 0) {
    console.error(
      `docs/bundle-size.md is out of date: ${stale.join('; ')}. Run node tools/sizes.mjs --write.`,
    );
  }
  if (stale.length > 0 || entries.some(({ passed }) => !passed)) process.exitCode = 1;
}
