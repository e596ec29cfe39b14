import { loadFailed, WorkerError } from '../../../errors/errors.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { DatabaseSettings, WorkerSource } from '../../../protocol/database-settings.ts';
import type { EngineAccess, LeaderEngine, StartEngine, StartingAccess } from '../leadership.ts';
import { pagePlatform } from '../page-platform.ts';
import { SharedLeaderships } from '../shared-leaderships.ts';
import type { EarlyWorker } from './early-worker.ts';
import { workerEngine } from './worker-engine.ts';

export interface WorkerSettings {
  /** The caller's own worker, or a function that makes one. */
  readonly worker: WorkerSource | undefined;
  /** Seconds of silence after which the worker counts as dead. */
  readonly answer_timeout: number;
  /** The first worker, where it has started already. */
  readonly early?: EarlyWorker | undefined;
}

const leaderships = new SharedLeaderships();

/** Not with this module: Jest's CommonJS, which has no workers, cannot read `import.meta`. */
const loadStart = () => import('./worker-start.ts').catch(loadFailed);

/**
 * Access to an engine in a worker, in this thread where no worker starts, or in another tab that is
 * the leader.
 */
export function connectToWorker(
  { worker, answer_timeout, early }: WorkerSettings,
  settings: DatabaseSettings,
  platform: Platform = pagePlatform,
): StartingAccess {
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
    // In parallel: a key of a password takes a tenth of a second.
    const encrypting = settings.encryption?.forEngine(settings.name, true);
    encrypting?.catch(() => undefined);
    const begun = await early?.take();
    const { started, reasons, part_files } =
      begun ?? (await (await loadStart()).startWorker(worker));
    if (started) {
      const { encryption, ...rest } = settings;
      const known = {
        ...rest,
        part_files,
        engine_encryption: await encrypting,
      };
      const timing = { answer_timeout, clock: platform.clock, page: platform.page };
      return workerEngine(started, known, timing, term, events);
    }
    if (reasons.length > 0) {
      console.warn(`cairndb runs in this thread, because no worker started: ${reasons.join(' ')}`);
    }
    // Pages with a worker do not load the engine.
    const { threadEngine } = await import('../thread-engine.ts').catch(loadFailed);
    return threadEngine(settings, term, events, platform);
  };
  // A caller with a worker of its own mostly has a policy that forbids Blobs.
  return leaderships.access(settings, platform, start, settings.shared_worker ?? !worker);
}

/** Access to an engine that moves the database as it starts, until `decide` is called. */
export function connectToMove(
  worker: WorkerSettings,
  settings: DatabaseSettings,
): { readonly access: EngineAccess; readonly decide: () => Promise<boolean> } {
  const mover = connectToWorker(worker, settings);
  const opener = connectToWorker(worker, { ...settings, move_to: undefined });
  let moving: Promise<LeaderEngine> | undefined;
  let isDecided = false;
  const start: StartEngine = async (term, events) => {
    // A caller who was told that nothing moved may be elected while it leaves.
    const started = (isDecided ? opener : mover).start(term, events);
    if (!isDecided) moving = started;
    return { ...(await started), starter: start };
  };
  return {
    access: { ...mover, start },
    /** Allows no move from now on; resolves with whether an engine was started to move. */
    async decide() {
      isDecided = true;
      await moving;
      return moving !== undefined;
    },
  };
}
