import { WorkerError } from '../../errors/worker-error.ts';
import type { DatabaseSettings } from '../channel/channel.ts';
import type { EngineAccess } from '../channel/engine-access.ts';
import type { StartEngine } from '../leadership/leadership.ts';
import { SharedLeaderships } from '../leadership/shared-leaderships.ts';
import { pagePlatform } from '../platform/page-platform.ts';
import type { Platform } from '../platform/platform.ts';
import { workerEngine } from './worker-engine.ts';
import { startWorker, type WorkerSource } from './worker-start.ts';

/** Settings of a connection's worker. */
export interface WorkerSettings {
  /** The caller's own worker, or a function that makes one. */
  readonly worker: WorkerSource | undefined;
  /** Seconds of silence after which the worker counts as dead. */
  readonly answer_timeout: number;
}

const leaderships = new SharedLeaderships();

/** Without it the engine uses IndexedDB, and says so. */
function loadScript(): Promise<string | undefined> {
  return import('./inline-opfs.ts').then(
    ({ opfsScript }) => opfsScript,
    () => undefined,
  );
}

/** Access to an engine in a worker, in this thread where no worker starts, or in another tab that is the leader. */
export function connectToWorker(
  { worker, answer_timeout }: WorkerSettings,
  settings: DatabaseSettings,
  platform: Platform = pagePlatform,
): EngineAccess {
  // A worker that the caller made cannot be replaced.
  const once = worker !== undefined && typeof worker !== 'function';
  let isStarted = false;
  const start: StartEngine = async (term, events) => {
    if (once && isStarted) {
      throw new WorkerError(
        'worker_lost',
        'The worker in the option `worker` has ended, and Cairn cannot replace it. Connect again, or pass a function.',
      );
    }
    isStarted = true;
    const reasons: string[] = [];
    const script = settings.storage === 'opfs' ? loadScript() : undefined;
    // In parallel: a key of a password takes a tenth of a second.
    const encrypting = settings.encryption?.forEngine(settings.name, true);
    encrypting?.catch(() => undefined);
    const started = await startWorker(worker, (reason) => {
      reasons.push(reason instanceof WorkerError ? reason.message : String(reason));
    });
    if (started) {
      const { encryption, ...rest } = settings;
      const known = {
        ...rest,
        opfs_script: await script,
        engine_encryption: await encrypting,
      };
      const timing = { answer_timeout, clock: platform.clock, page: platform.page };
      return workerEngine(started, known, timing, term, events);
    }
    if (reasons.length > 0) {
      console.warn(`cairndb runs in this thread, because no worker started: ${reasons.join(' ')}`);
    }
    // Pages with a worker do not load the engine.
    const { threadEngine } = await import('../thread/thread-engine.ts');
    return threadEngine(settings, term, events, platform);
  };
  // A caller with a worker of its own mostly has a policy that forbids Blobs.
  return leaderships.access(settings, platform, start, settings.shared_worker ?? !worker);
}
