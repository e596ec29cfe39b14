import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { CodeSplittingOptions, Plugin, PluginContext } from 'rolldown';
import { PART_FILES } from '../../src/protocol/parts.ts';
import { properties } from './late-files.ts';

type Group = NonNullable<CodeSplittingOptions['groups']>[number];

const EXPORTS = /export\{([^}]*)\};?\s*$/m;
const IMPORTS = /^import\{([^}]*)\}from["'`]\.\/worker\.js["'`];?/;
/** In front of the comment that names the source map. */
const END = /\n?(?=\/\/# sourceMappingURL|$)/;
const LOADS = /import\(["'`]\.\/part-([\w-]+)\.js["'`]\)/g;
/** The modules whose `import()` is a part. */
const TABLE = /\/src\/engine\/(?:parts|host\/worker-host)\.ts$/;

/** The modules that a worker starts with. */
const core = new Set<string>();

/** They are one file. */
export const workerCore: Group = { name: 'core', test: (id) => core.has(id) };

const source = readFileSync(new URL('../../src/engine/parts.ts', import.meta.url), 'utf8');
const rows = [...source.matchAll(/(\w+): \(\) => import\('\.+\/([^']+)'\)/g)];

/** The file of a part has the name of its row; that of other storage has none. */
export function partFile({ facadeModuleId: id }: { facadeModuleId?: string | null }): string {
  const row = rows.find(([, , path]) => id?.endsWith(`/${path}`));
  return `part-${row?.[1] ?? 'storage'}.js`;
}

/**
 * Makes files of the parts, without imports and exports: bundlers emit one as it is under another
 * name, or as a script. A part finds what it shares with the worker on a symbol of `globalThis`,
 * and registers there. The symbol has the hash of the build, so that after a deploy no part of
 * another version loads.
 */
export function workerParts(): Plugin {
  return {
    name: 'worker-parts',
    buildEnd() {
      gatherCore(this);
    },
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((output) => output.type === 'chunk');
      const text = chunks.map(({ code }) => code).join('');
      const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
      const symbol = `globalThis[Symbol.for("cairndb ${hash}")]`;
      const worker = chunks.find(({ fileName }) => fileName === 'worker.js')?.code ?? '';
      const shared = namesIn(EXPORTS.exec(worker)?.[1]);
      for (const chunk of chunks) {
        chunk.code =
          chunk.fileName === 'worker.js'
            ? workerOf(chunk.code, symbol, shared)
            : partOf(chunk, symbol, shared);
        if (/^import\b|^export\b|\bimport\(`/m.test(chunk.code))
          this.error(`${chunk.fileName} imports or exports: a part shares with worker.js alone`);
        chunk.imports = [];
        chunk.dynamicImports = [];
        chunk.exports = [];
      }
    },
  };
}

/** What `worker.js` imports before any part, and what several parts share. */
function gatherCore(context: PluginContext): void {
  core.clear();
  const parts: string[] = [];
  const walk = (id: string, into: Set<string>): void => {
    if (into.has(id) || core.has(id)) return;
    into.add(id);
    const { importedIds = [], dynamicallyImportedIds = [] } = context.getModuleInfo(id) ?? {};
    const isTable = TABLE.test(id);
    if (isTable) parts.push(...dynamicallyImportedIds);
    for (const next of isTable ? importedIds : [...importedIds, ...dynamicallyImportedIds])
      walk(next, into);
  };
  for (const id of context.getModuleIds()) if (context.getModuleInfo(id)?.isEntry) walk(id, core);
  const seen = new Set<string>();
  for (const part of new Set(parts)) {
    const own = new Set<string>();
    walk(part, own);
    for (const id of own) (seen.has(id) ? core : seen).add(id);
  }
}

/** What a list of exports or imports names, in its order. */
function namesIn(list = ''): (readonly [name: string, as: string])[] {
  const pairs = list.split(',').map((one) => one.trim().split(/\s+as\s+/));
  return pairs.filter(([name]) => name).map(([name = '', as = name]) => [name, as]);
}

/** What the worker exports, in the order in which parts find it. */
type Shared = ReturnType<typeof namesIn>;

function partOf(
  { code, fileName }: { code: string; fileName: string },
  symbol: string,
  shared: Shared,
): string {
  const name = JSON.stringify(fileName.replace(/^part-|\.js$/g, ''));
  const taken = (list: string) =>
    namesIn(list).map(([from, as]) => `${shared.findIndex(([, one]) => one === from)}:${as}`);
  const [, exported = ''] = EXPORTS.exec(code) ?? [];
  const registered = `${symbol}.part(${name},{${properties(exported)}});`;
  const rest = code
    .replace(IMPORTS, (_, names) => `const{${taken(names)}}=${symbol}.core;`)
    .replace(EXPORTS, '');
  // Also one that exports nothing, as it fills a slot of the core.
  return rest.replace(END, () => `\n${registered}\n`);
}

/**
 * What a worker shares, and how it loads a part. A URL that failed may stay failed for as long as
 * the worker runs, so each attempt has one of its own, of the same file.
 */
function workerOf(code: string, symbol: string, shared: Shared): string {
  const load = '/* @vite-ignore *//* webpackIgnore: true */';
  const rest = code
    .replace(EXPORTS, '')
    .replace(LOADS, (found, part) => `cairnPart("${part}")`.padEnd(found.length));
  const core = shared.map(([name]) => name);
  const own = `
const cairnParts={};let cairnLoads=0;${symbol}={core:[${core}],part(e,t){cairnParts[e]=t}};
async function cairnPart(e){await import(${load}globalThis[Symbol.for("${PART_FILES.description}")][e]+"#"+ ++cairnLoads);if(!cairnParts[e])throw Error(e+" is another script");return cairnParts[e]}
`;
  return rest.replace(END, () => own);
}
