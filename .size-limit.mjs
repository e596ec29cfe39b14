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

export default [
  {
    name: 'client, before its first call',
    path: 'dist/index.js',
    import: '{ connect }',
    limit: '8.3 kB',
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
    limit: '71.3 kB',
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
    name: 'server half of replication',
    path: 'dist/server.js',
    limit: '13.2 kB',
    gzip: true,
    modifyEsbuildConfig: (/** @type {BuildOptions} */ config) => ({ ...config, format: 'esm' }),
  },
];
