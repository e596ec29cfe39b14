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

/** What an app has loaded already, as it needs a collection. */
const inClient = /^\.\/[\w-]+-error\.js$/;

/**
 * The hooks of a framework, without the framework and the client.
 * @param {string} framework
 * @param {string} name
 * @param {string} hooks
 * @param {string} limit
 */
const binding = (framework, name, hooks, limit) => ({
  name: `${framework}, ${name}`,
  path: `dist/${framework}.js`,
  import: hooks,
  limit,
  gzip: true,
  ignore: ['react', 'vue', 'svelte', 'solid-js'],
  modifyEsbuildConfig: (/** @type {BuildOptions} */ config) => ({
    ...config,
    format: 'esm',
    plugins: [
      {
        name: 'without-client',
        setup(/** @type {import('esbuild').PluginBuild} */ build) {
          build.onResolve({ filter: inClient }, ({ path }) => ({ path, external: true }));
        },
      },
    ],
  }),
});
const readers = '{ useLiveQuery, useLiveDocument, useLiveCount, useLiveValue, useDatabaseStatus }';

export default [
  {
    name: 'client, before its first call',
    path: 'dist/index.js',
    import: '{ connect }',
    limit: '9.3 kB',
    gzip: true,
    modifyEsbuildConfig: (/** @type {BuildOptions} */ config) => ({
      ...config,
      format: 'esm',
      plugins: [stopAtLazyImports],
    }),
  },
  {
    name: 'worker',
    path: 'dist/worker.js',
    // docs/decisions/014-size-of-the-worker.md
    limit: '91.8 kB',
    gzip: true,
    modifyEsbuildConfig: (/** @type {BuildOptions} */ config) => ({ ...config, format: 'esm' }),
  },
  {
    name: 'replication, in a page',
    path: 'dist/replication.js',
    limit: '20 kB',
    gzip: true,
    modifyEsbuildConfig: (/** @type {BuildOptions} */ config) => ({ ...config, format: 'esm' }),
  },
  {
    name: 'encryption, in a page',
    path: 'dist/encryption.js',
    import: '{ encrypted, changePassword }',
    limit: '25.6 kB',
    gzip: true,
    modifyEsbuildConfig: (/** @type {BuildOptions} */ config) => ({
      ...config,
      format: 'esm',
      plugins: [stopAtLazyImports],
    }),
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
    limit: '13.2 kB',
    gzip: true,
    modifyEsbuildConfig: (/** @type {BuildOptions} */ config) => ({
      ...config,
      format: 'esm',
      plugins: [stopAtLazyImports],
    }),
  },
  {
    name: 'devtools, on demand',
    path: 'dist/devtools.js',
    limit: '25 kB',
    gzip: true,
    modifyEsbuildConfig: (/** @type {BuildOptions} */ config) => ({ ...config, format: 'esm' }),
  },
  {
    name: 'server half of replication',
    path: 'dist/server.js',
    limit: '13.2 kB',
    gzip: true,
    modifyEsbuildConfig: (/** @type {BuildOptions} */ config) => ({ ...config, format: 'esm' }),
  },
  ...['react', 'vue', 'svelte', 'solid'].flatMap((framework) => [
    binding(framework, 'hooks that read', readers, '2 kB'),
    binding(framework, 'all hooks', '*', '3.3 kB'),
  ]),
];
