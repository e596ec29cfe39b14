import type { Plugin } from 'vite';
import { bundleWorker } from './worker-script.ts';

/**
 * Answers requests for the worker's source with the whole worker in one script. The contract suite starts
 * hundreds of workers; loading sixty modules for each would take longer than everything else together.
 */
export function bundledWorker(): Plugin {
  let bundle: ReturnType<typeof bundleWorker> | undefined;
  return {
    name: 'bundled-worker',
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        if (!request.url?.startsWith('/worker/index.ts?')) return next();
        bundle ??= bundleWorker();
        bundle.then(({ code }) => {
          response.setHeader('content-type', 'text/javascript');
          response.end(code);
        }, next);
      });
    },
  };
}
