import type { Plugin } from 'rolldown';

const EXPRESSION = /new Worker\(new URL\(([`'"])\.\/worker\.js\1,\s*import\.meta\.url\)/;

/**
 * Bundlers find a worker by the very words `new Worker(new URL("./worker.js", import.meta.url)`.
 * The minifier turns the quotes to backticks, which not all of them read: turn them back. Fails when
 * the client no longer has the expression, since its users' builds would lose the worker silently.
 */
export function workerUrl(): Plugin {
  return {
    name: 'worker-url',
    generateBundle(_options, bundle) {
      let found = 0;
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk' || !EXPRESSION.test(chunk.code)) continue;
        found += 1;
        // of the same length, so that the source map stays right
        chunk.code = chunk.code.replace(EXPRESSION, (text) => text.replace(/[`']/g, '"'));
      }
      if (found === 0) this.error("dist has no `new Worker(new URL('./worker.js', …))`");
    },
  };
}
