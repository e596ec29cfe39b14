import type { TestProject } from 'vitest/node';
import { startCluster } from '../../tools/servers/cluster.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of a running PostgreSQL, for `connectionsTo`. */
    readonly postgres: string;
  }
}

/** One PostgreSQL for all tests; each file takes a schema of its own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cluster = await startCluster('fsync=off');
  project.provide('postgres', cluster.folder);
  return cluster.remove;
}
