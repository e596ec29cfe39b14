import type { PartFiles } from '../../../protocol/parts.ts';
import { blobWorker } from './blob-worker.ts';

/** Constants by which bundlers replace the literal text `import.meta.…`. */
interface BundlerMeta {
  readonly webpack?: number;
  readonly env?: { readonly PROD?: boolean };
}

/**
 * Defined by a build that puts `worker.js` beside its output but does not know the expression
 * below, as esbuild does.
 */
declare const CAIRN_WORKER_FILE: true | undefined;

export interface WorkerScripts {
  /**
   * Bundlers find the file by the expression `new Worker(new URL('./…', import.meta.url))` alone.
   */
  readonly file: () => Worker;
  /** The name of the file. */
  readonly name: string;
  /** Whether the build says that the file is there. */
  readonly isThere: boolean;
  /**
   * `undefined` in builds of webpack and Vite: they always carry the file along, and leave the
   * second copy out.
   */
  readonly inline: (() => Promise<() => Worker>) | undefined;
}

export const engineScripts: WorkerScripts = {
  file: () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module' }),
  name: 'worker.js',
  isThere: typeof CAIRN_WORKER_FILE !== 'undefined',
  inline:
    (import.meta as BundlerMeta).webpack || (import.meta as BundlerMeta).env?.PROD
      ? undefined
      : () => import('./inline-worker.ts').then(({ inlineWorker }) => inlineWorker),
};

export const fileScripts: WorkerScripts = {
  file: () => new Worker(new URL('./file-worker.js', import.meta.url), { type: 'module' }),
  name: 'file-worker.js',
  isThere: false,
  inline:
    (import.meta as BundlerMeta).webpack || (import.meta as BundlerMeta).env?.PROD
      ? undefined
      : () => import('./inline-file-worker.ts').then(({ inlineFileWorker }) => inlineFileWorker),
};

/**
 * The files of the parts, which bundlers find by these very words; `undefined` in a classic script,
 * whose worker has all parts with it.
 */
export function partFiles(): PartFiles | undefined {
  try {
    return {
      aggregation: new URL('./part-aggregation.js', import.meta.url).href,
      backups: new URL('./part-backups.js', import.meta.url).href,
      expressions: new URL('./part-expressions.js', import.meta.url).href,
      relations: new URL('./part-relations.js', import.meta.url).href,
      replication: new URL('./part-replication.js', import.meta.url).href,
      search: new URL('./part-search.js', import.meta.url).href,
      transactions: new URL('./part-transactions.js', import.meta.url).href,
      updates: new URL('./part-updates.js', import.meta.url).href,
      upkeep: new URL('./part-upkeep.js', import.meta.url).href,
      vectors: new URL('./part-vectors.js', import.meta.url).href,
      storage: new URL('./part-storage.js', import.meta.url).href,
    };
  } catch {
    return undefined;
  }
}

/** The names of this module in dist: worker-url.ts checks them. */
const UNBUNDLED = /\/(worker-start|static)\.js$/;

/** The file of a worker, as the bundler means it. */
export interface WorkerFile {
  readonly url: string;
  /** Bundlers change it. */
  readonly type: WorkerType | undefined;
}

/**
 * A worker's file; `undefined` where a request for it would end with a 404: in a bundle, beside
 * which there is no such file, unless the bundler has replaced the expression, and in a classic
 * script, which has no `import.meta`. docs/decisions/026-bundlers.md says what each bundler does.
 */
export function workerFile({ file, name, isThere }: WorkerScripts): WorkerFile | undefined {
  const found = fileOf(file);
  if (!found || isThere) return found;
  if ((import.meta as BundlerMeta).webpack || (import.meta as BundlerMeta).env?.PROD) return found;
  const [here = ''] = import.meta.url.split(/[?#]/);
  const beside = here.slice(0, here.lastIndexOf('/') + 1) + name;
  return found.url.split(/[?#]/)[0] !== beside || UNBUNDLED.test(here) ? found : undefined;
}

/** A worker's script must have the page's origin; its imports need not. */
export function hasPageOrigin(url: string): boolean {
  return new URL(url).origin === globalThis.location?.origin;
}

/** A worker that imports a script of another origin. */
export function importingWorker(url: string): Worker {
  return blobWorker(`import ${JSON.stringify(url)}`, 'module');
}

/** Bundlers replace the URL in the expression that makes the worker, and nowhere else. */
function fileOf(make: () => Worker): WorkerFile | undefined {
  const { Worker } = globalThis;
  let found: WorkerFile | undefined;
  const urlOnly = function UrlOnly(url: string | URL, options?: WorkerOptions) {
    found = { url: String(url), type: options?.type };
  } as unknown as typeof Worker;
  // Not where a page has frozen its globals.
  if (!Reflect.set(globalThis, 'Worker', urlOnly)) return undefined;
  try {
    make();
    return found;
  } catch {
    return undefined;
  } finally {
    globalThis.Worker = Worker;
  }
}
