import type { CodeSplittingOptions, Plugin } from 'rolldown';

type Group = NonNullable<CodeSplittingOptions['groups']>[number];

/**
 * A file of dist: these modules of src, and what they import that no file of a higher priority has.
 */
const chunk = (name: string, priority: number, ...modules: string[]): Group => ({
  name,
  priority,
  // Not `.d.ts`: declarations keep the cut that the compiler's plugin gives them.
  test: new RegExp(`/src/(?:${modules.join('|')})(?<!\\.d)\\.ts$`),
});

/**
 * The files of dist, few and coarse: a file is a request, and one that another file names is a
 * round trip. The page's part is one file for a first insert, find and live query; `extras` is one
 * file for calls that few pages make (docs/decisions/008-code-splitting.md).
 */
export const chunks: Group[] = [
  chunk(
    'index',
    100,
    'index',
    'page/connection/worker/blob-worker',
    'protocol/ready',
    'platform/lock-names',
    'platform/platform(?:-object)?',
  ),
  chunk('worker-start', 95, 'page/connection/worker/(?:worker-start|early-worker)'),
  chunk(
    'page',
    90,
    'page/calls/runtime',
    'page/connection/worker/connect-to-worker',
    'page/live/live-(?:reading|feed)',
    'storage/drivers/key-order',
    'codec/exact-json/base64',
    'codec/hash-text',
    'async/mutex',
  ),
  chunk(
    'extras',
    85,
    'page/inspection/[^.]+',
    'page/schemas',
    'page/calls/(?:extend-calls|key-value-calls|slow-queries|read-changes|restore-document|(?:run|handle)-migration)',
    'page/client/(?:database-calls|quota-watch)',
    'page/connection/destroy-database',
    'query/path/value-path',
    'query/plan/(?:interval|prefix)',
    'query/vector/vector-of',
  ),
  chunk(
    'thread',
    80,
    'page/connection/thread-engine',
    'page/transactions/run-transaction-sync',
    'page/collections/sync-methods',
    'storage/drivers/memory-storage',
  ),
  chunk('fold', 72, 'codec/fold-text'),
  chunk('retries', 71, 'async/retries'), // outbox and replication load apart
  // Replication, and the engine in the thread.
  chunk('states', 75, 'codec/exact-json/plain-json', 'protocol/record-states'),
  chunk('packed-page', 74, 'protocol/packed-page'),
  chunk(
    'thread-parts',
    70,
    'engine/aggregation/part',
    'engine/backups/part',
    'query/expressions/part',
    'engine/relations/part',
    'engine/search/part',
    'engine/upkeep/part',
    'engine/vectors/part',
    'engine/replication/replica-requests',
  ),
  chunk('relations', 65, 'page/calls/(?:related-calls|related-live|relation-tree)'),
  chunk('search', 63, 'page/calls/(?:search|nearest)-calls'),
  chunk(
    'files',
    60,
    'page/calls/file-calls',
    'backup/file/thread-codec',
    'page/connection/worker-codec',
  ),
  chunk('encryption', 50, 'encryption/index', 'storage/opfs/values/[^.]+'),
  chunk('native', 45, 'storage/(?:native/[^.]+|drivers/(?:shared-database|around-storage))'),
  chunk('replication', 43, 'replication/index'),
  chunk('synced-files', 42, 'replication/files/synced-files'),
  chunk('sealed-remote', 42, 'replication/(?:sealed-remote|sealing-keys)'),
  chunk('event-stream', 41, 'replication/fetching/event-stream'),
  chunk('packed-pull', 41, 'replication/fetching/packed-pull'),
  chunk('held-scopes', 41, 'replication/loop/held-scopes'),
  chunk('couchdb', 42, 'replication/couchdb/couch-remote'),
  chunk('hooks', 40, 'bindings/core/(?:sources|hook-result|live-hooks)'),
];

const RUNTIME = 'rolldown-runtime.js';
const IMPORT = /import(?:\{\w+ as (\w+)\}from)?["'`]\.\/rolldown-runtime\.js["'`];/;

/** A namespace of getters, as the bundler's own runtime makes it. */
const namespace = (name: string) =>
  `function ${name}(e){let n={};for(let t of Object.keys(e))Object.defineProperty(n,t,{get:e[t],enumerable:!0});return n}`;

/**
 * Fails where a file loads the start of a worker along: it names `import.meta`, which CommonJS in
 * Jest cannot read.
 */
export function workerStartApart(): Plugin {
  return {
    name: 'worker-start-apart',
    generateBundle(_options, bundle) {
      for (const output of Object.values(bundle)) {
        if (output.type !== 'chunk' || output.fileName === 'cairndb.js') continue;
        if (output.imports.includes('worker-start.js'))
          this.error(
            `${output.fileName} imports worker-start.js: put what they share into index.js`,
          );
      }
    },
  };
}

/**
 * Puts the bundler's runtime, a line, into the files that use it: alone it would be one more
 * request.
 */
export function withoutRuntime(): Plugin {
  return {
    name: 'without-runtime',
    generateBundle(_options, bundle) {
      for (const output of Object.values(bundle)) {
        if (output.type !== 'chunk') continue;
        const [text, name] = IMPORT.exec(output.code) ?? [];
        if (!text) continue;
        // Of the same length, and behind the rest: the source map stays right.
        const code = output.code.replace(text, ' '.repeat(text.length));
        const end = /\n?(?=\/\/# sourceMappingURL|$)/;
        output.code = name ? code.replace(end, `\n${namespace(name)}\n`) : code;
        output.imports = output.imports.filter((file) => file !== RUNTIME);
      }
      for (const [file, output] of Object.entries(bundle)) {
        if (output.type === 'chunk' && output.imports.includes(RUNTIME))
          this.error(`${file} imports the bundler's runtime in another way`);
      }
      delete bundle[RUNTIME];
      delete bundle[`${RUNTIME}.map`];
    },
  };
}
