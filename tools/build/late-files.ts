import type { Plugin } from 'rolldown';

/** Files that load on demand, with those whose code they share: the page's part, or each other. */
const LATE: Record<string, readonly string[]> = {
  couchdb: ['page', 'states'],
  'event-stream': ['page'],
  extras: ['page'],
  files: ['page'],
  'held-scopes': ['page'],
  'packed-page': ['page', 'states'],
  'packed-pull': ['page', 'states'],
  relations: ['page', 'extras'],
  'sealed-remote': ['page', 'extras', 'states'],
  search: ['page', 'extras'],
  subscribed: ['page'],
  'synced-files': ['page', 'extras'],
  thread: ['page', 'extras'],
  'thread-parts': ['page', 'thread', 'extras', 'states', 'packed-page'],
  states: ['page'],
};

const SHARED = ['page', ...Object.keys(LATE)];
/** Entries that run the engine where they are, and what two of them share. */
const IN_THREAD = ['native', 'node', 'sqlite', 'testing'];
/** What others may need: who caches files for work offline leaves out those of the thread. */
const IN_PAGE = SHARED.filter((file) => !file.startsWith('thread'));
const LOADS = new RegExp(`import\\("\\./(${Object.keys(LATE).join('|')})\\.js"\\)`, 'g');
const IMPORT = /^import (?:\{ (.*) \} from )?"\.\/([\w-]+)\.js";$/;
const EXPORTS = /^export \{ (.*) \};$/m;

/**
 * Wraps files that load on demand into functions, which get what they share as an argument. Some
 * bundlers, as esbuild, move what two such files import into a third: a request more, and a round
 * trip behind the first. So `page.js` and each of the others stay one file.
 */
export function lateFiles(): Plugin {
  return {
    name: 'late-files',
    renderChunk(code, { fileName, isEntry, imports }) {
      if (!fileName.endsWith('.js')) return null;
      const name = fileName.slice(0, -'.js'.length);
      const known = LATE[name] ?? (IN_THREAD.includes(name) ? SHARED : isEntry ? IN_PAGE : []);
      const foreign = SHARED.find(
        (file) => imports.includes(`${file}.js`) && !known.includes(file),
      );
      if (foreign)
        this.error(
          `${fileName} imports ${foreign}.js: name it in late-files.ts, or its module in chunks.ts`,
        );
      const live = SHARED.includes(name) && reassigned(code);
      if (live)
        this.error(`${fileName} exports \`let ${live}\`: others would keep its first value`);
      // Lines stay lines, for the source map.
      const lines = code.replace(LOADS, (_, file) => load(file)).split('\n');
      return { code: (LATE[name] ? wrap(lines, name) : take(lines)).join('\n'), map: null };
    },
  };
}

/** An exported variable that may change. */
function reassigned(code: string): string | undefined {
  const exported = EXPORTS.exec(code)?.[1]?.split(/, | as /) ?? [];
  return [...code.matchAll(/^let (\w+)/gm)]
    .map(([, one = '']) => one)
    .find((one) => exported.includes(one));
}

const load = (file: string) =>
  file === 'page' ? 'import("./page.js")' : `import("./${file}.js").then(($) => $.load())`;

/** A file as `make`, which gets the files it needs, and `load`, which imports these. */
function wrap(lines: readonly string[], name: string): string[] {
  const needed = LATE[name] ?? [];
  const shared: string[] = [];
  let last = 0;
  const rest = lines.map((line, at) => {
    const [text, names = '', file = ''] = IMPORT.exec(line) ?? [];
    if (text) last = at;
    if (!needed.includes(file)) return line;
    shared.push(`const { ${pattern(names)} } = $files["${file}"];`);
    return '';
  });
  // In parentheses, V8 compiles the function with the file: with its call it takes twice the time.
  const start = 'let $made; const $make = (function ($files) { if ($made) return $made;';
  rest[last] += ` ${start} ${shared.join(' ')}`;
  const all = needed.map((file) => `"${file}": await ${load(file)}`).join(', ');
  const end = `const $load = async () => $make({ ${all} });`;
  return rest.map((line) =>
    line.replace(
      EXPORTS,
      (_, names) =>
        `return $made = { ${properties(names)} }; }); ${end} export { $make as make, $load as load };`,
    ),
  );
}

/** What a file takes from late ones that load with it. */
function take(lines: readonly string[]): string[] {
  const known = new Set<string>();
  return lines.map((line) => {
    const [, names, file = ''] = IMPORT.exec(line) ?? [];
    if (!names || !LATE[file]) return line;
    const imports = new Set<string>();
    const made = make(file, imports);
    const more = [...imports].filter((one) => !known.has(one));
    for (const one of more) known.add(one);
    return `${more.join(' ')} const { ${pattern(names)} } = ${made};`;
  });
}

function make(file: string, imports: Set<string>): string {
  const local = `$${file.replace('-', '')}`;
  const needed = LATE[file];
  imports.add(`import ${needed ? `{ make as ${local} }` : `* as ${local}`} from "./${file}.js";`);
  if (!needed) return local;
  return `${local}({ ${needed.map((each) => `"${each}": ${make(each, imports)}`).join(', ')} })`;
}

/** `a as b, c` of an import, as the pattern of an object. */
const pattern = (names: string) => names.replaceAll(' as ', ': ');

/** `a as b, c` of an export, as the properties of an object. */
export const properties = (names: string) => names.replace(/([\w$]+) as ([\w$]+)/g, '$2: $1');
