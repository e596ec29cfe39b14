import { type Endpoint, transfer } from 'comlink';
import { WorkerError } from '../../../errors/errors.ts';
import type { Platform } from '../../../platform/platform.ts';
import { Watchdog } from '../../../platform/watchdog.ts';
import type { DatabaseSettings, PendingTerm } from '../../../protocol/database-settings.ts';
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
import { type LeaderEngine, type LeaderEngineEvents, openPatiently } from '../leadership.ts';
import { remoteMethods, remoteRoute, SESSION_METHODS } from '../remote-route.ts';
import type { StartedWorker } from './worker-start.ts';

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
export async function workerEngine(
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
