import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The contract suite as one classic script, for any page with a global `cairndb`. */
export async function bundleContract(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [here('page/contract.ts')],
    alias: { vitest: here('page/vitest.ts') },
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    define: { 'process.env.NODE_ENV': '"production"', 'import.meta.vitest': 'undefined' },
    logLevel: 'warning',
  });
  return outputFiles[0]!.text;
}
