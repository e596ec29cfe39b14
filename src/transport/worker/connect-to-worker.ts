import { WorkerError } from '../../errors/worker-error.ts';
import type { DatabaseSettings } from '../channel/channel.ts';
import type { EngineAccess } from '../channel/engine-access.ts';
import { Leadership, type StartEngine } from '../leadership/leadership.ts';
import { pagePlatform } from '../platform/page-platform.ts';
import { isShared, type Platform } from '../platform/platform.ts';
import { workerEngine } from './worker-engine.ts';
import { startWorker, type WorkerSource } from './worker-start.ts';

/** How to get and to watch a worker. */
export interface WorkerSettings {
  /** The caller's own. */
  readonly worker: WorkerSource | undefined;
  /** Seconds of silence after which it counts as dead. */
  readonly answer_timeout: number;
}

/** Access to an engine in a worker, in this thread where no worker starts, or in another tab that is the leader. */
export function connectToWorker(
  { worker, answer_timeout }: WorkerSettings,
  settings: DatabaseSettings,
  platform: Platform = pagePlatform,
): EngineAccess {
  // A worker that the caller has made cannot be made again.
  const once = worker !== undefined && typeof worker !== 'function';
  let begun = false;
  const begin: StartEngine = async (lead, host) => {
    if (once && begun) {
      throw new WorkerError(
        'worker_lost',
        'The worker that was given has ended, and Cairn cannot make another. Connect again, or give a function.',
      );
    }
    begun = true;
    const reasons: string[] = [];
    const started = await startWorker(worker, (reason) => {
      reasons.push(reason instanceof WorkerError ? reason.message : String(reason));
    });
    if (started)
      return workerEngine(started, settings, { answer_timeout, clock: platform.clock }, lead, host);
    if (reasons.length > 0) {
      console.warn(
        `cairndb runs in this thread, because no worker could be started: ${reasons.join(' ')}`,
      );
    }
    // Pages that have a worker do not load the engine.
    const { threadEngine } = await import('../thread/thread-engine.ts');
    return threadEngine(settings, lead, host, platform);
  };
  const leadership = new Leadership(settings.name, isShared(settings, platform), platform, begin);
  return { leadership, platform };
}
