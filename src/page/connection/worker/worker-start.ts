import { WorkerError } from '../../../errors/errors.ts';
import { serverRuntime } from '../../../platform/platform.ts';
import { platformObject } from '../../../platform/platform-object.ts';
import type { Started, WorkerSource } from '../../../protocol/database-settings.ts';
import type { PartFiles } from '../../../protocol/parts.ts';
import { HELLO, READY } from '../../../protocol/ready.ts';
import {
  engineScripts,
  fileScripts,
  hasPageOrigin,
  importingWorker,
  partFiles,
  type WorkerScripts,
  workerFile,
} from './worker-scripts.ts';

/** A script that does not answer in this time counts as missing. */
const START_DEADLINE_MS = 10_000;

/** A worker that runs Cairn. */
export interface StartedWorker {
  readonly worker: Worker;
  readonly started: Started;
}

export interface WorkerStart {
  /** `undefined` where no worker starts. */
  readonly started: StartedWorker | undefined;
  /** Why each way failed; empty on a server, where no worker is expected. */
  readonly reasons: readonly string[];
  readonly part_files: PartFiles | undefined;
}

/**
 * Starts the worker of the engine: the caller's if one is given; else from its file; else from a
 * Blob, where a content security policy allows `blob:`.
 *
 * @throws {WorkerError} `worker_start_failed` when the caller's own worker does not start.
 */
export async function startWorker(given: WorkerSource | undefined): Promise<WorkerStart> {
  const reasons: string[] = [];
  const started = given
    ? await attempt('given', () => (typeof given === 'function' ? given() : given))
    : await launch(engineScripts, (reason) => {
        reasons.push(reason instanceof WorkerError ? reason.message : String(reason));
      });
  return { started, reasons, part_files: started && partFiles() };
}

/** Starts a worker that writes or reads one file; `undefined` where no worker starts. */
export async function startFileWorker(): Promise<Worker | undefined> {
  return (await launch(fileScripts, () => undefined))?.worker;
}

async function launch(
  scripts: WorkerScripts,
  failed: (reason: unknown) => void,
): Promise<StartedWorker | undefined> {
  const runtime = serverRuntime();
  // Their workers keep the process alive until `close()`.
  if (runtime === 'bun' || runtime === 'deno') return undefined;
  if (!platformObject('Worker')) {
    if (!runtime) failed('There are no workers here.');
    return undefined;
  }
  const { file, inline } = scripts;
  const url = workerFile(scripts)?.url;
  try {
    if (url) return await attempt('file', file);
  } catch (error) {
    failed(error);
  }
  try {
    if (url && !hasPageOrigin(url)) return await attempt('inline', () => importingWorker(url));
    if (inline) return await attempt('inline', await inline());
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
      // The caller's worker may have sent READY before this listens.
      worker.postMessage(HELLO);
    } catch (cause) {
      end(cause);
    }
  });
}

function startError(started: Started, reason: unknown): WorkerError {
  const why = (reason instanceof Error ? reason.message : String(reason)).replace(/\.$/, '');
  const remedy = started === 'given' ? ' It must run the module cairndb/worker.' : '';
  return new WorkerError(
    'worker_start_failed',
    `The worker (${started}) did not start: ${why}.${remedy}`,
    {
      cause: reason instanceof Error ? reason : undefined,
    },
  );
}
