import type { Plugin } from 'rolldown';
import { workers } from './workers.ts';

const ID = '\0no-inline-worker';
const SCRIPT = "throw new Error('cairndb/static carries no worker');";

/**
 * Leaves out the copies of the workers that other builds carry as text, see `worker-script.ts`:
 * where there are no workers they are dead weight.
 */
export function withoutInlineWorker(): Plugin {
  const scripts = new Set(workers.map(({ name }) => `virtual:${name}-script`));
  return {
    name: 'without-inline-worker',
    resolveId: (id) => (scripts.has(id) ? ID : null),
    load: (id) => (id === ID ? `export default ${JSON.stringify(SCRIPT)};` : null),
  };
}
