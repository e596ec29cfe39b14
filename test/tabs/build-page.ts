import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import type { TestProject } from 'vitest/node';
import { makeFolder, removeFolder } from '../../tools/browsers/child.mjs';
import { sourceWorker } from '../../tools/build/source-worker.ts';
import { workerScript } from '../../tools/build/worker-script.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the built page for tabs. */
    readonly tabPage: string;
  }
}

/** Builds a page with the library, once for all tests. */
export default async function setup(project: TestProject): Promise<() => void> {
  const outDir = makeFolder('tabs');
  await build({
    configFile: false,
    root: fileURLToPath(new URL('page/', import.meta.url)),
    base: './',
    logLevel: 'error',
    plugins: [sourceWorker(), workerScript()],
    build: { outDir, target: 'es2022', minify: false },
  });
  project.provide('tabPage', outDir);
  return () => removeFolder(outDir);
}
