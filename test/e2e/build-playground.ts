import type { TestProject } from 'vitest/node';
import { buildPlayground } from './playground-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the built playground. */
    readonly playground: string;
  }
}

/** Builds the playground once, for all tests. */
export default async function setup(project: TestProject): Promise<() => void> {
  const { outDir, remove } = await buildPlayground();
  project.provide('playground', outDir);
  return remove;
}
