/** @typedef {import('esbuild').BuildOptions} BuildOptions */

/**
 * Bundles as an app's bundler would, and stops at each `import()`: that is loaded later, if ever.
 * @type {import('esbuild').Plugin}
 */
const stopAtLazyImports = {
  name: 'stop-at-lazy-imports',
  setup(build) {
    build.onResolve({ filter: /.*/ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
  },
};

/** What an app has loaded already, as it needs a collection, and what all bindings share. */
const inClient = /^\.\/(?:index|page|extras|worker-start|files|hooks)\.js$/;

/** @type {import('esbuild').Plugin} */
const withoutClient = {
  name: 'without-client',
  setup(build) {
    build.onResolve({ filter: inClient }, ({ path }) => ({ path, external: true }));
  },
};

/** What `Database` has loaded already; the encoding of values stands beside encryption. */
const inThread = /^\.\/(?:thread|encryption)\.js$/;

/** @type {import('esbuild').Plugin} */
const withoutThread = {
  name: 'without-thread',
  setup(build) {
    build.onResolve({ filter: inThread }, ({ path }) => ({ path, external: true }));
  },
};

/** @param {BuildOptions} config @returns {BuildOptions} */
const besideClient = (config) => ({
  ...config,
  format: 'esm',
  plugins: [stopAtLazyImports, withoutClient],
});

/** @type {import('esbuild').Plugin} */
const withoutReplication = {
  name: 'without-replication',
  setup(build) {
    build.onResolve({ filter: /^\.\/(?:replication|states)\.js$/ }, ({ path }) => ({
      path,
      external: true,
    }));
  },
};

/** @param {BuildOptions} config @returns {BuildOptions} */
const besideReplication = (config) => ({
  ...config,
  format: 'esm',
  plugins: [stopAtLazyImports, withoutClient, withoutReplication],
});

/**
 * The hooks of a framework, without the framework and the client.
 * @param {string} framework
 */
const binding = (framework) => ({
  name: framework,
  path: `dist/${framework}.js`,
  limit: '2 kB',
  gzip: true,
  ignore: ['react', 'vue', 'svelte', 'solid-js', '@angular/core'],
  modifyEsbuildConfig: besideClient,
});

/**
 * A file that runs in a worker, as it is: bundlers that change it make it smaller
 * (docs/decisions/014-size-of-the-worker.md).
 * @param {string} name
 * @param {string} file
 * @param {string} limit
 */
const workerFile = (name, file, limit) => ({
  name,
  path: `dist/${file}.js`,
  limit,
  gzip: true,
  modifyEsbuildConfig: (/** @type {BuildOptions} */ config) => ({
    ...config,
    loader: { '.js': 'copy' },
  }),
});

/** @param {string} name @param {string} limit */
const part = (name, limit) => workerFile(`${name}, a part of the worker`, `part-${name}`, limit);

export default [
  {
    name: 'client, before its first call',
    path: 'dist/cairndb.js',
    import: '{ connect }',
    // docs/decisions/008-code-splitting.md
    limit: '12.3 kB',
    gzip: true,
    modifyEsbuildConfig: (/** @type {BuildOptions} */ config) => ({
      ...config,
      format: 'esm',
      plugins: [stopAtLazyImports],
    }),
  },
  workerFile('worker', 'worker', '62 kB'),
  part('aggregation', '14 kB'),
  part('backups', '17.6 kB'),
  part('expressions', '16.3 kB'),
  part('relations', '14 kB'),
  // docs/decisions/064-first-pull.md
  part('replication', '8.6 kB'),
  part('search', '14 kB'),
  part('transactions', '4.2 kB'),
  part('updates', '12.6 kB'),
  part('upkeep', '5.5 kB'),
  part('vectors', '14 kB'),
  part('storage', '18 kB'),
  {
    name: 'page, with the first call',
    path: 'dist/page.js',
    limit: '44.7 kB',
    gzip: true,
    modifyEsbuildConfig: besideClient,
  },
  {
    name: 'thread, with the first call of Database',
    path: 'dist/thread.js',
    limit: '70 kB',
    gzip: true,
    modifyEsbuildConfig: besideClient,
  },
  {
    name: 'extras, on demand',
    path: 'dist/extras.js',
    limit: '12.1 kB',
    gzip: true,
    modifyEsbuildConfig: besideClient,
  },
  {
    name: 'relations, on demand',
    path: 'dist/relations.js',
    limit: '5.4 kB',
    gzip: true,
    modifyEsbuildConfig: besideClient,
  },
  {
    name: 'search, on demand',
    path: 'dist/search.js',
    limit: '3 kB',
    gzip: true,
    modifyEsbuildConfig: besideClient,
  },
  {
    name: 'files of backups, on demand',
    path: 'dist/files.js',
    limit: '6.9 kB',
    gzip: true,
    modifyEsbuildConfig: besideClient,
  },
  {
    name: 'replication, in a page',
    path: 'dist/replication.js',
    limit: '20 kB',
    gzip: true,
    modifyEsbuildConfig: besideClient,
  },
  {
    name: 'files of documents, once they are used',
    path: 'dist/synced-files.js',
    limit: '7.7 kB',
    gzip: true,
    modifyEsbuildConfig: besideReplication,
  },
  {
    name: 'encrypted documents, with the first request',
    path: 'dist/sealed-remote.js',
    limit: '4 kB',
    gzip: true,
    modifyEsbuildConfig: besideReplication,
  },
  {
    name: 'CouchDB, with its first request',
    path: 'dist/couchdb.js',
    limit: '10 kB',
    gzip: true,
    modifyEsbuildConfig: besideReplication,
  },
  {
    name: 'stream of changes, where the server offers it',
    path: 'dist/event-stream.js',
    limit: '3 kB',
    gzip: true,
    modifyEsbuildConfig: besideReplication,
  },
  {
    name: 'scopes that components show',
    path: 'dist/held-scopes.js',
    limit: '1 kB',
    gzip: true,
    modifyEsbuildConfig: besideReplication,
  },
  {
    name: 'GraphQL',
    path: 'dist/graphql.js',
    limit: '3 kB',
    gzip: true,
    modifyEsbuildConfig: besideReplication,
  },
  {
    name: 'Supabase',
    path: 'dist/supabase.js',
    limit: '3 kB',
    gzip: true,
    modifyEsbuildConfig: besideReplication,
  },
  {
    name: 'outbox',
    path: 'dist/outbox.js',
    limit: '4.6 kB',
    gzip: true,
    modifyEsbuildConfig: besideClient,
  },
  {
    name: 'encryption, in a page',
    path: 'dist/encryption.js',
    import: '{ encrypted, changePassword }',
    limit: '27 kB',
    gzip: true,
    modifyEsbuildConfig: besideClient,
  },
  {
    name: 'storage in SQLite',
    path: 'dist/sqlite.js',
    limit: '5 kB',
    gzip: true,
    modifyEsbuildConfig: (/** @type {BuildOptions} */ config) => ({
      ...config,
      format: 'esm',
      plugins: [stopAtLazyImports, withoutClient, withoutThread],
    }),
  },
  {
    name: 'TanStack DB',
    path: 'dist/tanstack.js',
    limit: '3.8 kB',
    gzip: true,
    modifyEsbuildConfig: besideClient,
  },
  {
    name: 'storage of automerge-repo',
    path: 'dist/automerge.js',
    limit: '0.8 kB',
    gzip: true,
    modifyEsbuildConfig: besideClient,
  },
  {
    name: 'Yjs',
    path: 'dist/yjs.js',
    limit: '3 kB',
    gzip: true,
    ignore: ['yjs', 'y-protocols'],
    modifyEsbuildConfig: besideClient,
  },
  {
    name: 'undo',
    path: 'dist/undo.js',
    limit: '4 kB',
    gzip: true,
    modifyEsbuildConfig: besideClient,
  },
  {
    name: 'text',
    path: 'dist/text.js',
    limit: '0.6 kB',
    gzip: true,
    modifyEsbuildConfig: (/** @type {BuildOptions} */ config) => ({ ...config, format: 'esm' }),
  },
  {
    name: 'backup targets, on demand',
    path: 'dist/backup-targets.js',
    limit: '13.4 kB',
    gzip: true,
    modifyEsbuildConfig: besideClient,
  },
  {
    name: 'devtools, on demand',
    path: 'dist/devtools.js',
    limit: '25 kB',
    gzip: true,
    modifyEsbuildConfig: besideClient,
  },
  {
    name: 'tests of a remote',
    path: 'dist/replication-testing.js',
    limit: '7 kB',
    gzip: true,
    modifyEsbuildConfig: (/** @type {BuildOptions} */ config) => ({ ...config, format: 'esm' }),
  },
  {
    name: 'server half of replication',
    path: 'dist/server.js',
    // docs/decisions/064-first-pull.md
    limit: '30 kB',
    gzip: true,
    modifyEsbuildConfig: (/** @type {BuildOptions} */ config) => ({ ...config, format: 'esm' }),
  },
  {
    name: 'tables of other programs, on a server',
    path: 'dist/server-tables.js',
    limit: '8 kB',
    gzip: true,
    modifyEsbuildConfig: (/** @type {BuildOptions} */ config) => ({ ...config, format: 'esm' }),
  },
  {
    name: 'files of documents, on a server',
    path: 'dist/server-files.js',
    limit: '9.5 kB',
    gzip: true,
    modifyEsbuildConfig: (/** @type {BuildOptions} */ config) => ({ ...config, format: 'esm' }),
  },
  ...['react', 'vue', 'svelte', 'solid', 'angular'].map(binding),
  {
    name: 'hooks of all frameworks, once a component subscribes',
    path: 'dist/subscribed.js',
    limit: '3 kB',
    gzip: true,
    modifyEsbuildConfig: besideClient,
  },
];
