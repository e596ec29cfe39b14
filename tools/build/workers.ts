import { fileURLToPath } from 'node:url';

const source = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** A worker of the library. */
export interface WorkerEntry {
  /**
   * Name of its file in dist, by which the source names it:
   * `new URL('./<name>.js', import.meta.url)`.
   */
  readonly name: 'worker' | 'file-worker';
  readonly entry: string;
}

export const workers: readonly WorkerEntry[] = [
  { name: 'worker', entry: source('worker/index.ts') },
  { name: 'file-worker', entry: source('worker/file-worker.ts') },
];
