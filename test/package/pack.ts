import type { TestProject } from 'vitest/node';
import { packTarball } from './tarball.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of the package as npm would publish it. */
    readonly tarball: string;
  }
}

/** Packs the package once, for all tests. */
export default async function setup(project: TestProject): Promise<() => void> {
  const { path, remove } = await packTarball();
  project.provide('tarball', path);
  return remove;
}
