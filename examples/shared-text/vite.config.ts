import { createHandler, memory, nodeListener } from 'cairndb/server';
import { defineConfig, type Plugin } from 'vite';

/** A server of rows in memory, beside the pages: an app has one over PostgreSQL. */
function syncServer(): Plugin {
  const sync = nodeListener(createHandler({ store: memory(), authorize: () => true }));
  return {
    name: 'sync-server',
    configureServer: ({ middlewares }) => void middlewares.use('/sync', sync),
    configurePreviewServer: ({ middlewares }) => void middlewares.use('/sync', sync),
  };
}

export default defineConfig({ plugins: [syncServer()] });
