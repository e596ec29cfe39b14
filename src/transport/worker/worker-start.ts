import { WorkerError } from '../../errors/worker-error.ts';
import type { Started } from '../channel/channel.ts';
import { serverRuntime } from '../platform/server-runtime.ts';
import { HELLO, READY } from '../wire/wire-protocol.ts';

/** A worker, or a function that makes one. */
export type WorkerSource = Worker | (() => Worker);

/** A script that does not answer in this time counts as missing. */
const START_DEADLINE_MS = 10_000;

/** A worker that runs Cairn. */
export interface StartedWorker {
  readonly worker: Worker;
  readonly started: Started;
}

/**
 * Starts the worker of the engine: the caller's if one is given; else from the file beside this module; else from a
 * Blob, where a content security policy allows `blob:`.
 *
 * @param failed Called with the reason of each way that failed; not on a server, where no worker is expected.
 * @returns `undefined` where no worker starts.
 * @throws {WorkerError} `worker_start_failed` when the caller's own worker does not start.
 */
export async function startWorker(
  given: WorkerSource | undefined,
  failed: (reason: unknown) => void,
): Promise<StartedWorker | undefined> {
  if (given) return attempt('given', () => (typeof given === 'function' ? given() : given));
  return launch(
    // Bundlers find the file by this very expression.
    () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module' }),
    async () => (await import('./inline-worker.ts')).inlineWorker(),
    failed,
  );
}

/** Starts a worker that writes or reads one file; `undefined` where no worker starts. */
export async function startFileWorker(): Promise<Worker | undefined> {
  const launched = await launch(
    () => new Worker(new URL('./file-worker.js', import.meta.url), { type: 'module' }),
    async () => (await import('./inline-file-worker.ts')).inlineFileWorker(),
    () => undefined,
  );
  return launched?.worker;
}

async function launch(
  fromFile: () => Worker,
  fromBlob: () => Promise<Worker>,
  failed: (reason: unknown) => void,
): Promise<StartedWorker | undefined> {
  const runtime = serverRuntime();
  // Their workers would keep the process alive until `close()`.
  if (runtime === 'bun' || runtime === 'deno') return undefined;
  if (typeof Worker === 'undefined') {
    if (!runtime) failed('there are no workers here');
    return undefined;
  }
  try {
    return await attempt('file', fromFile);
  } catch (error) {
    failed(error);
  }
  try {
    const worker = await fromBlob();
    return await attempt('inline', () => worker);
  } catch (error) {
    failed(error);
  }
  return undefined;
}

function attempt(started: Started, make: () => Worker): Promise<StartedWorker> {
  return new Promise((resolve, reject) => {
    let worker: Worker | undefined;
    const end = (reason?: unknown) => {
      clearTimeout(timer);
      worker?.removeEventListener('message', onMessage);
      worker?.removeEventListener('error', onError);
      if (reason === undefined) return;
      worker?.terminate();
      reject(startError(started, reason));
    };
    const onMessage = ({ data }: MessageEvent) => {
      if (data !== READY) return;
      end();
      resolve({ worker: worker as Worker, started });
    };
    const onError = (event: Event) => {
      event.preventDefault();
      end((event as ErrorEvent).message || 'its script could not be loaded');
    };
    const timer = setTimeout(
      () => end(`it did not answer within ${START_DEADLINE_MS / 1000} s`),
      START_DEADLINE_MS,
    );
    try {
      worker = make();
      worker.addEventListener('message', onMessage);
      worker.addEventListener('error', onError);
      // A given worker may have sent READY before anybody listened.
      worker.postMessage(HELLO);
    } catch (cause) {
      end(cause);
    }
  });
}

function startError(started: Started, reason: unknown): WorkerError {
  const why = reason instanceof Error ? reason.message : String(reason);
  const remedy = started === 'given' ? ' It has to run the module cairndb/worker.' : '';
  return new WorkerError(
    'worker_start_failed',
    `The worker (${started}) did not start: ${why}.${remedy}`,
    {
      cause: reason instanceof Error ? reason : undefined,
    },
  );
}
