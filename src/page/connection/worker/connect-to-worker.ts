import { type Endpoint, transfer } from 'comlink';
import { loadFailed, WorkerError } from '../../../errors/errors.ts';
import type { Platform } from '../../../platform/platform.ts';
import { Watchdog } from '../../../platform/watchdog.ts';
import type {
  DatabaseSettings,
  PendingTerm,
  WorkerSource,
} from '../../../protocol/database-settings.ts';
import { fromWire } from '../../../protocol/wire-error.ts';
import {
  EVENT,
  eventFromWire,
  NOTICE,
  type SessionApi,
  statusFromWire,
  type WorkerApi,
  type WorkerMessage,
} from '../../../protocol/wire-protocol.ts';
import {
  type EngineAccess,
  type LeaderEngine,
  type LeaderEngineEvents,
  openPatiently,
  type StartEngine,
  type StartingAccess,
} from '../leadership.ts';
import { pagePlatform } from '../page-platform.ts';
import { remoteMethods, remoteRoute, SESSION_METHODS } from '../remote-route.ts';
import { SharedLeaderships } from '../shared-leaderships.ts';
import type { EarlyWorker } from './early-worker.ts';
import type { StartedWorker } from './worker-start.ts';

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
      console.warn(
        `cairndb runs in this thread, because no worker started: ${reasons.join(' ')} Serve its whole-worker.js and pass that as "worker"; Database needs none.`,
      );
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

/** When to give a worker up, or to let it pause. */
interface WorkerTiming extends Pick<Platform, 'clock' | 'page'> {
  readonly answer_timeout: number;
}

/**
 * Time for a worker that has thrown to end its transactions. One that is terminated amid them can
 * block its database in all tabs of WebKit, until the process of its tab ends (WebKit bug 324094).
 */
const LAST_TRANSACTIONS_MS = 1000;

const WORKER_METHODS = [
  ...SESSION_METHODS,
  'open',
  'join',
  'replayJournals',
  'keyRecord',
  'pause',
  'resign',
  'close',
] as const;

/** The engine in a worker, for the client that started it. */
async function workerEngine(
  { worker, started }: StartedWorker,
  settings: DatabaseSettings,
  { answer_timeout: answerTimeout, clock, page }: WorkerTiming,
  { journals, expected, ...term }: PendingTerm,
  host: LeaderEngineEvents,
): Promise<LeaderEngine> {
  const api = remoteMethods<WorkerApi, keyof WorkerApi>(worker, WORKER_METHODS);
  let lose: (error: WorkerError) => void = () => undefined;
  const lost = new Promise<never>((_, reject) => {
    lose = reject;
  });
  let shared: boolean | undefined;
  /** Only a worker that has opened saves nothing more once it has thrown. */
  let stopsItself = false;
  lost.catch((error: WorkerError) => {
    worker.removeEventListener('message', hear);
    if (stopsItself) clock.after(LAST_TRANSACTIONS_MS, end);
    else end();
    host.lost(error);
  });
  worker.addEventListener('error', (event) => {
    stopsItself = shared !== undefined;
    lose(lostError(event));
  });
  worker.addEventListener('messageerror', (event) => lose(lostError(event)));
  const hear = ({ data }: MessageEvent<WorkerMessage | string>) => {
    // READY is a string; comlink takes its own replies, and a route its events.
    if (typeof data !== 'object' || !(NOTICE in data)) return;
    if (data[NOTICE] === 'superseded') host.superseded();
    else if (data[NOTICE] === 'recovered') host.recovered(data.keys);
    else host.bring(data.address, data.port);
  };
  worker.addEventListener('message', hear);
  const stopPausing = page?.onLeaving?.(() => void api.pause().catch(() => undefined));
  const end = () => {
    stopPausing?.();
    worker.removeEventListener('message', hear);
    worker.terminate();
    api.release();
  };
  const silent = () => lose(silentError(answerTimeout));
  /** Watches the worker during calls outside of a route, which has its own watchdog. */
  const watched = async <T>(asked: Promise<T>): Promise<T> => {
    const watchdog = new Watchdog(answerTimeout, clock, {
      busy: () => true,
      ping: () => api.ping(),
      silent,
    });
    watchdog.wake();
    try {
      return await Promise.race([asked, lost]);
    } finally {
      watchdog.stop();
    }
  };

  let isFirst = true;
  try {
    const known = { ...term, journals: await journals, expected: await expected };
    const open = async () => {
      const opened = await watched(api.open(settings, known));
      if (opened.error) throw fromWire(opened.error);
      return opened;
    };
    ({ shared } = await openPatiently(open, host, clock));
  } catch (error) {
    end();
    throw error;
  }
  return {
    shared,
    async join(client, events) {
      // Ports for all would cost each message time in WebKit.
      const pair = isFirst ? undefined : new MessageChannel();
      isFirst = false;
      const endpoint: Endpoint = pair?.port1 ?? worker;
      const session = pair
        ? remoteMethods<SessionApi, keyof SessionApi>(pair.port1, SESSION_METHODS)
        : api;
      const hear = (event: Event) => {
        const { data } = event as MessageEvent<WorkerMessage | string>;
        if (typeof data !== 'object' || !(EVENT in data)) return;
        for (const event of data[EVENT]) events.event(eventFromWire(event));
      };
      endpoint.addEventListener('message', hear);
      const route = remoteRoute(session, {
        started,
        own: true,
        answerTimeout,
        clock,
        silent,
        events,
        lost,
        end: () => {
          endpoint.removeEventListener('message', hear);
          session.leave().catch(() => undefined);
          if (!pair) return;
          // First: Chromium evicts a page from the back/forward cache for the replies.
          pair.port1.close();
          session.release();
        },
      });
      const port = pair?.port2;
      const status = await watched(
        port ? api.join(client, transfer(port, [port])) : api.join(client),
      );
      events.event({ type: 'status', detail: statusFromWire(status) });
      return route;
    },
    keyRecord: () => watched(api.keyRecord()),
    replayJournals: (journals) => {
      // The journals stay in localStorage until the engine reports them saved.
      api.replayJournals(journals).catch(() => undefined);
    },
    async stop(deleting) {
      try {
        const error = await watched(api.close(deleting));
        if (error) throw fromWire(error);
      } finally {
        end();
      }
    },
    resign: () => {
      // The page ends: nothing waits for the reply.
      api.resign().catch(() => undefined);
    },
    // What waits for it, such as its stop, ends too.
    abandon: silent,
  };
}

function lostError(event: Event): WorkerError {
  const { message, error } = event as ErrorEvent;
  const why = message ? `: ${message}` : '';
  return new WorkerError(
    'worker_lost',
    `The worker that runs the engine failed${why}. Connect again; unsaved changes may be lost.`,
    { cause: error ?? undefined },
  );
}

function silentError(seconds: number): WorkerError {
  return new WorkerError(
    'worker_unresponsive',
    `The worker that runs the engine did not answer for ${seconds} s and was ended. Connect again; unsaved changes may be lost.`,
  );
}
