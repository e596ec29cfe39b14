import { type Endpoint, type Remote, releaseProxy, wrap } from 'comlink';
import type { Clock } from '../../async/clock.ts';
import { Watchdog } from '../../platform/watchdog.ts';
import type { Started } from '../../protocol/database-settings.ts';
import type { Request } from '../../protocol/requests.ts';
import { fromWire, type WireError } from '../../protocol/wire-error.ts';
import {
  eventFromWire,
  type SessionApi,
  type SessionProgress,
  type WireFailures,
} from '../../protocol/wire-protocol.ts';
import type { Route, RouteEvents } from './route.ts';

interface RemoteRouteOptions {
  readonly started: Started;
  readonly own: boolean;
  /** Seconds of silence after which the session counts as dead. */
  readonly answerTimeout: number;
  readonly clock: Clock;
  /** Called when the session counts as dead. */
  readonly silent: () => void;
  /**
   * Compares the progress of the session with the number of calls that it cannot have answered yet.
   */
  readonly compare?: (progress: SessionProgress, waiting: number) => void;
  readonly events: RouteEvents;
  /** Rejects when the other thread or tab is gone; never resolves. */
  readonly lost: Promise<never>;
  readonly end: () => void;
}

/** A route to a session in another thread or tab. */
export function remoteRoute(api: RemoteSession, options: RemoteRouteOptions): Route {
  const { events, lost } = options;
  let waiting = 0;
  let answered = 0;
  /** Counts the calls that must not overtake each other. */
  let sequence = 0;
  const ping = async (): Promise<void> => {
    const before = waiting;
    const answeredBefore = answered;
    const progress = await api.ping();
    // The calls that were in flight at the ping and still are.
    options.compare?.(progress, before - (answered - answeredBefore));
  };
  /** Live queries wait for updates for as long as they are open. */
  const lives = new Set<number>();
  const watchdog = new Watchdog(options.answerTimeout, options.clock, {
    // A client with unsaved changes must notice a failover.
    busy: () => waiting > 0 || lives.size > 0 || events.hasUnsaved(),
    ping,
    silent: options.silent,
  });
  lost.catch(() => watchdog.stop());

  /** Waits for a reply under the eyes of the watchdog. */
  const answer = async <T>(promise: Promise<T>): Promise<T> => {
    waiting++;
    watchdog.wake();
    try {
      return await promise;
    } finally {
      waiting--;
      answered++;
    }
  };
  const orLost = <T>(promise: Promise<T>): Promise<T> => answer(Promise.race([promise, lost]));

  return {
    started: options.started,
    own: options.own,
    replay: async (opened, changes, known) => {
      const { failures, database, error } = await orLost(api.replay(opened, changes, known));
      if (error) throw fromWire(error);
      return { failures: fromFailures(failures), database };
    },
    // Not `orLost`: when the session is lost, another route retries the batch.
    execute: async (batch, first) => {
      for (const request of batch) {
        if (request.op === 'live') lives.add(request.live);
        else if (request.op === 'liveEnd') lives.delete(request.live);
      }
      // Times the pattern from now on, and not from the last ping.
      if (batch[0]?.mayHang && waiting === 0) watchdog.stop();
      const {
        values,
        failures,
        events: delivered = [],
        turn,
      } = await answer(api.execute(withoutStaged(batch), first, ++sequence));
      for (const event of delivered) events.event(eventFromWire(event));
      return { values, failures: failures && fromFailures(failures), turn };
    },
    watch: (on) => orLost(api.watch(on)),
    save: async () => {
      const error: WireError | undefined = await orLost(api.save(++sequence));
      if (error) throw fromWire(error);
    },
    leave: () => {
      watchdog.stop();
      options.end();
    },
  };
}

/** Drops staged changes, which an engine that replays a commit alone needs. */
function withoutStaged(batch: readonly Request[]): readonly Request[] {
  if (!batch.some(({ op }) => op === 'commit')) return batch;
  return batch.map((request) => (request.op === 'commit' ? { ...request, changes: [] } : request));
}

function fromFailures(failures: WireFailures): Map<number, unknown> {
  return new Map(failures.map(([index, error]) => [index, fromWire(error)]));
}

type RemoteMethods<Api, Name extends keyof Api> = Pick<Remote<Api>, Name & keyof Remote<Api>> & {
  /** Must be called when no method is called any more. */
  release(): void;
};

/** A session in another thread or tab. */
type RemoteSession = RemoteMethods<SessionApi, keyof SessionApi>;

export const SESSION_METHODS = ['replay', 'execute', 'watch', 'save', 'leave', 'ping'] as const;

/**
 * The methods that the other end exposes. Comlink makes a proxy at each access to one, with a
 * finalizer, and Chromium evicts a page from the back/forward cache for a finalizer that runs,
 * which the garbage of the next page of the site brings about. So each method has one proxy, which
 * is released.
 */
export function remoteMethods<Api, Name extends keyof Api & string>(
  endpoint: Endpoint,
  names: readonly Name[],
): RemoteMethods<Api, Name> {
  type Releasable = { [releaseProxy](): void };
  const remote = wrap(endpoint) as unknown as Releasable & Record<string, Releasable>;
  const methods: Record<string, unknown> = {};
  for (const name of names) methods[name] = remote[name];
  const proxies = [remote, ...Object.values(methods)] as Releasable[];
  methods.release = () => {
    // As of an ended worker: callers have stopped to wait, or race with its end.
    for (const name of names) methods[name] = () => new Promise(() => undefined);
    for (const proxy of proxies.splice(0)) proxy[releaseProxy]();
  };
  return methods as unknown as RemoteMethods<Api, Name>;
}
