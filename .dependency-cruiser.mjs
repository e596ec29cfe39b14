/**
 * The folders of src: each may import only folders to its right; the last group, any may import.
 */
const layers = [
  [
    'automerge',
    'bindings',
    'devtools',
    'graphql',
    'supabase',
    'tanstack',
    'testing',
    'undo',
    'yjs',
  ],
  ['replication', 'encryption', 'backup-targets', 'outbox'],
  ['page', 'engine'],
  ['api'],
  ['platform'],
  ['protocol'],
  ['query', 'backup'],
  ['storage'],
];
const everywhere = { async: ['codec', 'errors'], codec: ['errors'], errors: [] };
/** Calls without promises, and the engine of the page's own thread. */
const BOTH_ROOMS = '^src/page/(sending/near-reads|connection/thread-engine)\\.ts$';
/** The server half of replication shares the protocol with the page, and nothing else. */
const apart = {
  server: ['replication/protocol', 'query', ...Object.keys(everywhere)],
  text: Object.keys(everywhere),
  node: ['storage', ...Object.keys(everywhere)],
  sqlite: ['storage', ...Object.keys(everywhere)],
  'replication/protocol': ['query', ...Object.keys(everywhere)],
};

const layerRules = layers.flatMap((layer, index) =>
  layer.map((folder) => {
    const below = layers.slice(index + 1).flat();
    return onlyImports(folder, [...below, ...Object.keys(everywhere)]);
  }),
);
const freeRules = Object.entries({ ...everywhere, ...apart }).map(([folder, below]) =>
  onlyImports(folder, below),
);

/**
 * @param {string} folder
 * @param {string[]} below
 * @returns {import('dependency-cruiser').IForbiddenRuleType}
 */
function onlyImports(folder, below) {
  const allowed = [folder, ...below].join('|');
  return {
    name: `layer-${folder}`,
    comment: `src/${folder} imports only: ${below.join(', ') || 'nothing of src'}`,
    severity: 'error',
    from: { path: `^src/${folder}/` },
    to: { path: '^src/', pathNot: `^src/(${allowed})/` },
    ...(folder === 'page' && { from: { path: '^src/page/', pathNot: BOTH_ROOMS } }),
  };
}

const folders = [...layers.flat(), ...Object.keys(everywhere), ...Object.keys(apart)].join('|');

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...layerRules,
    ...freeRules,
    {
      name: 'no-other-folder',
      comment: 'A new folder of src needs its place in the layers above',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: `^src/(${folders})/` },
      to: {},
    },
    {
      name: 'no-cycle',
      comment: 'No module may depend on itself through others, types included',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'library-stands-alone',
      comment: 'src and worker import neither each other backwards nor what is around them',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(worker|demo|test|bench|tools)/' },
    },
    {
      name: 'worker-stands-alone',
      comment: 'A worker has nothing of the page',
      severity: 'error',
      from: { path: '^worker/' },
      to: { path: '^(demo|test|bench|tools|src/page)/' },
    },
    {
      name: 'demo-is-a-user',
      comment: 'The playground uses what the package exports, as any app would',
      severity: 'error',
      from: { path: '^demo/' },
      to: {
        path: '^(src|worker)/',
        pathNot:
          '^(src|src/(replication|server|server/files|devtools|text|undo)|src/bindings/\\w+|worker)/index\\.ts$',
      },
    },
    {
      name: 'benchmark-page-stands-alone',
      comment:
        'What compares databases in a page knows neither Node nor the driver, and measures builds',
      severity: 'error',
      from: { path: '^bench/page/' },
      to: { path: '^(src|worker|demo|test|tools)/|^bench/(?!page/)' },
    },
    {
      name: 'benchmark-page-without-node',
      severity: 'error',
      from: { path: '^bench/page/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'declared-packages-only',
      comment: 'At run time the library needs its declared dependencies and no Node module',
      severity: 'error',
      from: { path: '^(src|worker)/', pathNot: '^src/node/' },
      to: {
        dependencyTypes: ['core', 'npm-dev', 'npm-no-pkg', 'npm-unknown', 'npm-optional'],
        pathNot:
          '^node_modules/(react|vue|svelte|solid-js|@angular/core|@tanstack/db|yjs|y-protocols|lib0)/',
      },
    },
    {
      name: 'node-in-its-entry-only',
      comment: 'cairndb/node needs Node and its optional peer, and nothing imports it',
      severity: 'error',
      from: { path: '^(src|worker|demo|bench/page)/', pathNot: '^src/node/' },
      to: { path: '^src/node/|^node_modules/classic-level/' },
    },
    {
      name: 'node-without-other-packages',
      severity: 'error',
      from: { path: '^src/node/' },
      to: { path: '^node_modules/', pathNot: '^node_modules/(classic-level|@types/node)/' },
    },
    ...['react', 'vue', 'svelte', 'solid', 'angular'].map((framework) => ({
      name: `${framework}-in-its-binding-only`,
      severity: /** @type {const} */ ('error'),
      from: { path: '^(src|worker)/', pathNot: `^src/bindings/${framework}/` },
      to: { path: `^node_modules/@?${framework}(-js)?/` },
    })),
    {
      name: 'yjs-in-its-entry-only',
      severity: 'error',
      from: { path: '^(src|worker)/', pathNot: '^src/yjs/' },
      to: { path: '^src/yjs/|^node_modules/(yjs|y-protocols|lib0)/' },
    },
    {
      name: 'tanstack-in-its-entry-only',
      severity: 'error',
      from: { path: '^(src|worker)/', pathNot: '^src/tanstack/' },
      to: { path: '^src/tanstack/|^node_modules/@tanstack/db/' },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^virtual:' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^demo/dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'default'],
      extensions: ['.ts', '.mjs', '.js', '.d.ts'],
    },
  },
};
