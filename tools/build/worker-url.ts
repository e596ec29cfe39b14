import type { Plugin } from 'rolldown';
import { PART_NAMES } from '../../src/protocol/parts.ts';
import { workers } from './workers.ts';

const EXPRESSION = /new URL\(([`'"])\.\/([\w-]+)\.js\1,\s*import\.meta\.url\)/g;

/**
 * Names of the chunks that may have the expression: `worker-scripts.ts` knows by them that nobody
 * has bundled it.
 */
const CHUNKS = ['worker-start.js', 'static.js'];

const names = [
  ...workers.map(({ name }) => name),
  ...[...PART_NAMES, 'storage'].map((part) => `part-${part}`),
];

/** Files of the other builds into dist: a chunk of the same name would take the place of one. */
const TAKEN = ['server.js', 'whole-worker.js', ...names.map((name) => `${name}.js`)];

/**
 * Bundlers find a worker by the very words `new Worker(new URL("./worker.js", import.meta.url)`,
 * and its parts by the second half of these. The minifier turns the quotes to backticks, which not
 * all of them read: this turns them back. Fails where dist lacks one of the expressions: the users'
 * builds would silently lose the worker.
 */
export function workerUrl(): Plugin {
  return {
    name: 'worker-url',
    generateBundle(_options, bundle) {
      const missing = new Set(names);
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue;
        if (TAKEN.includes(chunk.fileName))
          this.error(`a chunk has the name of another file of dist, ${chunk.fileName}`);
        // of the same length, so that the source map stays right
        chunk.code = chunk.code.replace(EXPRESSION, (text, _quote, name: string) => {
          missing.delete(name);
          if (!CHUNKS.includes(chunk.fileName))
            this.error(`the URL of a worker or part is in ${chunk.fileName}`);
          return text.replace(/[`']/g, '"');
        });
      }
      for (const name of missing)
        this.error(`dist has no \`new URL('./${name}.js', import.meta.url)\``);
    },
  };
}
