/**
 * node tools/structure.mjs: checks how the files of src lie to each other. With --report it lists
 * what the limits count, and does not fail.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { ROOT } from './setup.mjs';

const SRC = join(ROOT, 'src');

/**
 * Each framework has hooks of the same names, and `cairndb` adds to `connect` of its own module.
 */
const SAME_BY_PURPOSE = /^(?:use[A-Z]\w+|connect)$/;

/** @typedef {{ lines: number, imports: string[], names: string[] }} Source */

/** @param {string} file @returns {Source} */
function read(file) {
  const text = readFileSync(file, 'utf8');
  const { importedFiles } = ts.preProcessFile(text);
  const { statements } = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  return {
    lines: text.split('\n').length - 1,
    imports: importedFiles
      .filter(({ fileName }) => fileName.startsWith('.'))
      .map(({ fileName }) => resolve(dirname(file), fileName)),
    names: [...new Set(statements.flatMap(exportedNames))],
  };
}

/** @param {ts.Statement} statement @returns {string[]} */
function exportedNames(statement) {
  const declared = /** @type {ts.DeclarationStatement & { modifiers?: ts.ModifierLike[] }} */ (
    statement
  );
  if (!declared.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
  const names = ts.isVariableStatement(statement)
    ? statement.declarationList.declarations.map(({ name }) => name)
    : [declared.name];
  return names.flatMap((name) => (name && ts.isIdentifier(name) ? [name.text] : []));
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => join(SRC, file));
const sources = new Map(files.map((file) => [file, read(file)]));

/**
 * The folders at which two files part, one for each; `undefined` where one lies above the other.
 */
function siblings(/** @type {string} */ from, /** @type {string} */ to) {
  const [a, b] = [from, to].map((file) => relative(SRC, dirname(file)).split('/').filter(Boolean));
  if (!a || !b) return undefined;
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  if (at === a.length || at === b.length) return undefined;
  return [a, b].map((path) => path.slice(0, at + 1).join('/'));
}

/** Pairs of folders that import each other, types included. @returns {string[]} */
function mutualFolders() {
  /** @type {Map<string, string>} */
  const edges = new Map();
  for (const [from, { imports }] of sources) {
    for (const to of imports) {
      const pair = siblings(from, to);
      if (pair) edges.set(pair.join(' '), `${relative(SRC, from)} imports ${relative(SRC, to)}`);
    }
  }
  return [...edges].flatMap(([pair, why]) => {
    const back = edges.get(pair.split(' ').reverse().join(' '));
    return back && pair < pair.split(' ').reverse().join(' ') ? [`${why}, and ${back}`] : [];
  });
}

/** @returns {string[]} */
function sameNames() {
  /** @type {Map<string, string[]>} */
  const byName = new Map();
  for (const [file, { names }] of sources) {
    for (const name of names) byName.set(name, [...(byName.get(name) ?? []), relative(SRC, file)]);
  }
  return [...byName].flatMap(([name, where]) =>
    where.length > 1 && !SAME_BY_PURPOSE.test(name) ? [`${name} is in ${where.join(' and ')}`] : [],
  );
}

/**
 * Files that one other of their folder imports, and nothing else. Those of an entry do not count,
 * nor what loads on demand.
 *
 * @returns {string[]}
 */
function singleImporters() {
  /** @type {Map<string, string[]>} */
  const importers = new Map();
  for (const [from, { imports }] of sources) {
    for (const to of imports) importers.set(to, [...(importers.get(to) ?? []), from]);
  }
  return files.flatMap((file) => {
    const [only, ...others] = new Set(importers.get(file));
    if (!only || others.length > 0 || dirname(only) !== dirname(file)) return [];
    const isLazy = readFileSync(only, 'utf8').includes(`import('./${basename(file)}')`);
    return isLazy || basename(only) === 'index.ts'
      ? []
      : [`${relative(SRC, file)} <- ${relative(SRC, only)}`];
  });
}

const shortFiles = [...sources].flatMap(([file, { lines }]) =>
  lines < 40 ? [`${relative(SRC, file)}: ${lines}`] : [],
);
/** What may fall, and not rise: lower a limit with its count. */
const counted = [
  { what: 'files of less than 40 lines', all: shortFiles, limit: 55 },
  { what: 'single importers in their own folder', all: singleImporters(), limit: 35 },
];
const defects = [
  ...mutualFolders().map((pair) => `two folders import each other: ${pair}`),
  ...sameNames().map((name) => `an exported name exists twice: ${name}`),
  ...counted.flatMap(({ what, all: { length }, limit }) =>
    length > limit ? [`${what}: ${length}, of at most ${limit}`] : [],
  ),
];

if (process.argv.includes('--report')) {
  for (const { what, all } of counted) console.log([`# ${what}`, ...all, ''].join('\n'));
}
const counts = counted.map(({ what, all }) => `${all.length} ${what}`);
console.log([`${files.length} files`, ...counts].join(', '));
for (const defect of defects) console.error(defect);
if (defects.length > 0 && !process.argv.includes('--report')) process.exitCode = 1;
