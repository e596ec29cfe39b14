import { type Remote, releaseProxy, wrap } from 'comlink';
import type { Clock } from '../../engine/scheduling/clock.ts';
import { WorkerError } from '../../errors/worker-error.ts';
import type { DatabaseSettings } from '../channel/channel.ts';
import type { RouteEvents } from '../channel/route.ts';
import type { LeaderEngine, LeaderEngineEvents } from '../leadership/leadership.ts';
import type { PendingTerm } from '../thread/engine-host.ts';
import { remoteRoute } from '../wire/remote-route.ts';
import { Watchdog } from '../wire/watchdog.ts';
import { fromWire } from '../wire/wire-error.ts';
import { EVENT, eventFromWire, NOTICE, statusFromWire } from '../wire/wire-protocol.ts';
import type { WorkerApi, WorkerMessage } from './worker-host.ts';
import type { StartedWorker } from './worker-start.ts';

/** The engine in a worker, for the one client that started it. */
export async function workerEngine(
  { worker, started }: StartedWorker,
  settings: DatabaseSettings,
  { answer_timeout: answerTimeout, clock }: { answer_timeout: number; clock: Clock },
  { left, expected, ...lead }: PendingTerm,
  host: LeaderEngineEvents,
): Promise<LeaderEngine> {
  const api = wrap<WorkerApi>(worker) as Remote<WorkerApi>;
  let lose: (error: WorkerError) => void = () => undefined;
  const lost = new Promise<never>((_, reject) => {
    lose = reject;
  });
  lost.catch((error: WorkerError) => {
    end();
    host.lost(error);
  });
  worker.addEventListener('error', (event) => lose(lostError(event)));
  worker.addEventListener('messageerror', (event) => lose(lostError(event)));
  let sessionEvents: RouteEvents | undefined;
  const hear = ({ data }: MessageEvent<WorkerMessage | string>) => {
    // The worker's replies, and its sign of life, take the same way.
    if (typeof data !== 'object') return;
    if (EVENT in data) sessionEvents?.event(eventFromWire(data[EVENT]));
    else if (!(NOTICE in data)) return;
    else if (data[NOTICE] === 'taken') host.taken();
    else if (data[NOTICE] === 'forgotten') host.forgotten(data.left);
    else host.bring(data.address, data.port);
  };
  worker.addEventListener('message', hear);
  const end = () => {
    worker.removeEventListener('message', hear);
    worker.terminate();
  };
  const silent = () => {
    const error = silentError(answerTimeout);
    lose(error);
    return error;
  };
  /** For what is asked while no client's route looks after the worker. */
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

  let shared: boolean;
  try {
    const known = { ...lead, left: await left, expected: await expected };
    const opened = await watched(api.open(settings, known));
    if (opened.error) throw fromWire(opened.error);
    shared = opened.shared;
  } catch (error) {
    end();
    throw error;
  }
  return {
    shared,
    async join(client, events) {
      sessionEvents = events;
      const route = remoteRoute(api, {
        started,
        own: true,
        answerTimeout,
        clock,
        silent: () => events.silent(silent()),
        events,
        lost,
        end: () => undefined,
      });
      const status = await watched(api.join(client));
      events.event({ type: 'status', detail: statusFromWire(status) });
      return route;
    },
    takeOver: (journals) => {
      // They stay where they are until the engine says that they are saved.
      api.takeOver(journals).catch(() => undefined);
    },
    async stop() {
      try {
        const error = await watched(api.close());
        if (error) throw fromWire(error);
      } finally {
        api[releaseProxy]();
        end();
      }
    },
    retire: () => {
      // The page is ending: nobody waits for this.
      api.retire().catch(() => undefined);
    },
    abandon: end,
  };
}

function lostError(event: Event): WorkerError {
  const { message, error } = event as ErrorEvent;
  const why = message ? `: ${message}` : '';
  return new WorkerError(
    'worker_lost',
    `The worker that hosts the engine failed${why}. Connect again; what was not saved may be lost.`,
    { cause: error ?? undefined },
  );
}

function silentError(seconds: number): WorkerError {
  return new WorkerError(
    'worker_unresponsive',
    `The worker that hosts the engine has not answered for ${seconds} s and was ended. Connect again; what was not saved may be lost.`,
  );
}
