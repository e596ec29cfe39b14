/**
 * node tools/conventions.mjs: checks the sizes and names of files in src, and the words of code, tests and docs.
 * With --report it counts breaches by folder and does not fail.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { ROOT } from './setup.mjs';

const MOST_FILES = 14;
const MOST_LINES = 300;

/** Descriptions where the field has a noun, and passive voice that hides the subject. */
const PHRASES = [
  'whoever',
  'whosoever',
  'as it were',
  'that which',
  'of which',
  'so that it is known',
  'is told of',
  'are told of',
  'was told of',
  'were told of',
  'been told of',
  'made twice',
  'makes again',
  'made again',
  'hand on',
  'hands on',
  'handed on',
  'gives its lead away',
  'gave its lead away',
];

const READ = ['src', 'worker', 'inline', 'test', 'docs', 'demo', 'README.md', 'CHANGELOG.md'];
const TEXT = /\.(ts|tsx|mjs|md|html|css|svg)$/;

/** @param {string} path @returns {string[]} */
function filesIn(path) {
  if (!statSync(`${ROOT}${path}`).isDirectory()) return [path];
  return readdirSync(`${ROOT}${path}`).flatMap((name) => filesIn(`${path}/${name}`));
}

const linesOf = (/** @type {string} */ file) =>
  readFileSync(`${ROOT}${file}`, 'utf8').trimEnd().split('\n');

/**
 * @param {string[]} items
 * @param {(item: string) => string} keyOf
 * @returns {Map<string, string[]>}
 */
function grouped(items, keyOf) {
  /** @type {Map<string, string[]>} */
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

/** @typedef {{ file: string, line?: number, says: string }} Defect */

/** @returns {Defect[]} */
function sizesAndNames() {
  const source = filesIn('src');
  const large = source.flatMap((file) => {
    const { length } = linesOf(file);
    const says = `${length} lines, of at most ${MOST_LINES}`;
    return length > MOST_LINES ? [{ file, says }] : [];
  });
  const full = [...grouped(source, dirname)].flatMap(([folder, files]) => {
    const says = `${files.length} files, of at most ${MOST_FILES}`;
    return files.length > MOST_FILES ? [{ file: `${folder}/`, says }] : [];
  });
  const twins = [...grouped(source, basename).values()].flatMap(([file = '', ...others]) =>
    others.length > 0 ? [{ file, says: `has the name of ${others.join(', ')}` }] : [],
  );
  return [...large, ...full, ...twins];
}

/** @returns {Defect[]} */
function words() {
  const pattern = new RegExp(`\\b(${PHRASES.join('|').replaceAll(' ', '\\s+')})\\b`, 'gi');
  const files = READ.flatMap(filesIn).filter((file) => TEXT.test(file));
  return files.flatMap((file) =>
    linesOf(file).flatMap((text, index) =>
      [...text.matchAll(pattern)].map(([phrase]) => ({
        file,
        line: index + 1,
        says: `"${phrase}": name it, or say who does it`,
      })),
    ),
  );
}

const folderOf = (/** @type {string} */ file) => file.split('/').slice(0, 2).join('/');
const defects = [...sizesAndNames(), ...words()];

if (process.argv.includes('--report')) {
  const folders = grouped(
    defects.map(({ file }) => file),
    folderOf,
  );
  for (const [folder, { length }] of [...folders].sort(([a], [b]) => (a < b ? -1 : 1))) {
    console.log(`${String(length).padStart(4)}  ${folder}`);
  }
  console.log(`${String(defects.length).padStart(4)}  in all`);
} else {
  for (const { file, line, says } of defects) {
    console.error(line === undefined ? `${file}: ${says}` : `${file}:${line}: ${says}`);
  }
  if (defects.length > 0) process.exitCode = 1;
}
