/**
 * node tools/conventions.mjs: checks the sizes of files in src, the words of code, tests and docs,
 * and how tests wait. With --report it counts breaches by folder and does not fail.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { ROOT } from './setup.mjs';

const MOST_LINES = 500;

/**
 * Descriptions where the field has a noun, and passive voice that hides the subject, each with what
 * to say.
 */
const PHRASES = {
  'name it, or say who does it': [
    'whoever',
    'whosoever',
    'as it were',
    'that which',
    'of which',
    'so that it is known',
    'is had',
    'can be had',
    'nobody hears',
  ],
  'name the subject: "a change larger than …", "the stored documents"': [
    'what (?:was|were|is) (?:saved|kept|made|too|left behind|thrown away)',
    'what came before',
    'what comes after',
    'what became of',
    'what happens to',
    'what has to be',
    'what nobody',
    'none that',
  ],
  'say "acknowledged" of a change, "reported" of an event or an error': [
    '(?:is|are|was|were|been) told of',
    'as (?:it was|they were)(?: first)? told',
    'what (?:a|the|another) (?:page|tab|client) (?:is|was) told',
    'been told',
  ],
  'say "requested", "in flight", or "retried"': [
    'what (?:is|was) asked',
    '(?:was|were) asked',
    '(?:is|are|was|were) asked for',
  ],
  'say "applied", "applied once", "applied twice", or "reapplied"': [
    'made twice',
    'made once',
    'makes again',
    'made again',
  ],
  'say "replay" for changes, "stream" or "pass" for data': [
    'hand on',
    'hands on',
    'handed on',
    'handed anew',
    'handed back',
  ],
  'say "resigns"': ['(?:gives|gave) (?:its|the) lead away'],
  'say "in the back/forward cache", or "frozen"': [
    '(?:leader|follower|page|tab)s? that rests?',
    'resting (?:leader|follower|page|tab)s?',
  ],
  'say "succeeds" or "succeeds when retried"': ['goes well', 'go well', 'went well'],
  'say "stored but reported as failed"': ['stored and reported as failed'],
  'say "blocks" or "delays"': ['holds? up', 'held up', 'puts? off', 'gets? in the way'],
  'say "restarted", or "retried"': ['begun for ever', 'tried for ever'],
};

const FOLDERS = ['src', 'worker', 'cli', 'test', 'docs', 'demo', 'examples', 'skills', '.github'];
const READ = [...FOLDERS, 'README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];
const TEXT = /\.(ts|tsx|mjs|md|html|css|svg|vue|svelte|yml)$/;

/** The files of these paths, without those that builds leave. @param {string[]} paths */
function filesIn(...paths) {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...paths];
  const files = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
  return files.filter((file) => existsSync(`${ROOT}${file}`));
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
function sizes() {
  return filesIn('src').flatMap((file) => {
    const { length } = linesOf(file);
    const says = `${length} lines, of at most ${MOST_LINES}`;
    return length > MOST_LINES ? [{ file, says }] : [];
  });
}

const MOST_COLUMNS = 100;
const COMMENT = /^\s*(?:\/\/|\/?\*)/;
/** An address and the row of a table cannot be wrapped. */
const ONE_PIECE = /https?:|^\s*\* \|/;

/** The formatter wraps code, and leaves comments as they are. @returns {Defect[]} */
function widths() {
  return filesIn('src', 'worker', 'cli', 'test', 'demo', 'bench', 'tools')
    .filter((file) => /\.(?:ts|tsx|mjs)$/.test(file))
    .flatMap((file) =>
      linesOf(file).flatMap((text, index) =>
        text.length > MOST_COLUMNS && COMMENT.test(text) && !ONE_PIECE.test(text)
          ? [{ file, line: index + 1, says: `a comment of ${text.length} columns` }]
          : [],
      ),
    );
}

/** What is not wrapped: a front matter and code; a row of a table, an address, HTML, a heading. */
const BLOCKS = /^---\n[\s\S]*?\n---$|^ *```[\s\S]*?^ *```$/gm;
const OTHER_PIECE = /https?:|^\s*\||^\s*<|^#/;

/** Text that is not wrapped is read and compared badly. @returns {Defect[]} */
function pageWidths() {
  const pages = filesIn('docs', 'skills', 'README.md', 'CHANGELOG.md', 'CONTRIBUTING.md');
  return pages
    .filter((file) => file.endsWith('.md') && !/^docs\/(?:api\/|benchmarks\/\d)/.test(file))
    .flatMap((file) => {
      const text = readFileSync(`${ROOT}${file}`, 'utf8');
      const lines = text.replace(BLOCKS, (block) => block.replace(/[^\n]/g, '')).split('\n');
      return lines.flatMap((line, index) =>
        line.length > MOST_COLUMNS && !OTHER_PIECE.test(line)
          ? [{ file, line: index + 1, says: `${line.length} columns` }]
          : [],
      );
    });
}

const patterns = Object.entries(PHRASES).map(([advice, phrases]) => ({
  advice,
  pattern: new RegExp(`\\b(?:${phrases.join('|').replaceAll(' ', '\\s+')})\\b`, 'gi'),
}));

/** @returns {Defect[]} */
function words() {
  const files = filesIn(...READ).filter((file) => TEXT.test(file));
  return files.flatMap((file) =>
    linesOf(file).flatMap((text, index) =>
      patterns.flatMap(({ advice, pattern }) =>
        [...text.matchAll(pattern)].map(([phrase]) => ({
          file,
          line: index + 1,
          says: `"${phrase}": ${advice}`,
        })),
      ),
    ),
  );
}

/**
 * Vitest gives up after a second unless a timeout is given, which a busy machine takes to load a
 * module. @returns {Defect[]}
 */
function hastyWaits() {
  return filesIn('test').flatMap((file) => {
    const text = readFileSync(`${ROOT}${file}`, 'utf8');
    return [...text.matchAll(/\bvi\.wait(?:For|Until)\([^;]*;/g)]
      .filter(([call]) => !/timeout|PATIENCE/.test(call))
      .map(({ index }) => ({
        file,
        line: text.slice(0, index).split('\n').length,
        says: 'use expect.poll(): it waits for a minute',
      }));
  });
}

const folderOf = (/** @type {string} */ file) => file.split('/').slice(0, 2).join('/');
const defects = [...sizes(), ...widths(), ...pageWidths(), ...words(), ...hastyWaits()];

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
