import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';

const ID = 'virtual:published-figures';
const RESOLVED = `\0${ID}`;
const FILE = new URL('../../docs/benchmarks/10000.json', import.meta.url);

interface Published {
  readonly at: string;
  readonly machine: { readonly browser: string; readonly cores: number; readonly system: string };
  readonly measured: readonly {
    readonly size: number;
    readonly workload: string;
    readonly metric: string;
    readonly contender: string;
    readonly values: readonly number[];
  }[];
}

/**
 * `import { figures, machine } from 'virtual:published-figures'`: results of `npm run bench` for
 * these contenders, without the rest of its large file.
 */
export function publishedFigures(contenders: readonly string[]): Plugin {
  return {
    name: 'published-figures',
    resolveId: (id) => (id === ID ? RESOLVED : null),
    load(id) {
      if (id !== RESOLVED) return null;
      const { at, machine, measured }: Published = JSON.parse(readFileSync(FILE, 'utf8'));
      const figures = measured
        .filter(({ size, contender }) => size > 0 && contenders.includes(contender))
        .map(({ workload, metric, contender, values }) => [workload, metric, contender, values]);
      const { browser, cores, system } = machine;
      const where = `${browser} on ${system.split(' ')[0]}, ${cores} cores, ${at.slice(0, 10)}`;
      const code = `export const figures = ${JSON.stringify(figures)};
export const machine = ${JSON.stringify(where)};`;
      return { code, map: null };
    },
  };
}
