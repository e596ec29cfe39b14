import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { bundleWorker } from './worker-script.ts';
import { workers } from './workers.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Answers requests for a worker's source with the whole worker in one script. The contract suite
 * starts hundreds of workers; loading sixty modules for each would take longer than everything else
 * together.
 */
export function bundledWorker(): Plugin {
  const bundles = new Map<string, ReturnType<typeof bundleWorker>>();
  return {
    name: 'bundled-worker',
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const asked = workers.find(({ entry }) =>
          request.url?.startsWith(`/${relative(ROOT, entry)}?`),
        );
        if (!asked) return next();
        const bundle = bundles.get(asked.name) ?? bundleWorker(asked.entry);
        bundles.set(asked.name, bundle);
        bundle.then(({ code }) => {
          response.setHeader('content-type', 'text/javascript');
          response.end(code);
        }, next);
      });
    },
  };
}
