import type { Remote } from 'comlink';
import type { Clock } from '../../engine/scheduling/clock.ts';
import type { Started } from '../channel/channel.ts';
import type { Route, RouteEvents } from '../channel/route.ts';
import type { SessionApi, SessionProgress } from './session-api.ts';
import { Watchdog } from './watchdog.ts';
import { fromWire, type WireError } from './wire-error.ts';
import { statusFromWire, type WireFailures } from './wire-protocol.ts';

/** How to treat the other side. */
export interface RemoteRouteOptions {
  readonly started: Started;
  readonly own: boolean;
  /** Seconds of silence after which it counts as dead. */
  readonly answerTimeout: number;
  readonly clock: Clock;
  /** Tells of silence. */
  readonly silent: () => void;
  /** To be called with what the other side says of itself, and how many calls it cannot have answered yet. */
  readonly compare?: (progress: SessionProgress, waiting: number) => void;
  readonly events: RouteEvents;
  /** Resolves never, rejects when the other side is gone. */
  readonly lost: Promise<never>;
  /** Ends what carries the messages. */
  readonly end: () => void;
}

/** A route to a session on the other side of a boundary. */
export function remoteRoute(api: Remote<SessionApi>, options: RemoteRouteOptions): Route {
  const { events, lost } = options;
  let waiting = 0;
  /** Answers so far. */
  let answered = 0;
  /** Calls so far, of those that must not overtake each other. */
  let asked = 0;
  const ping = async (): Promise<void> => {
    const before = waiting;
    const answeredBefore = answered;
    const progress = await api.ping();
    // What was under way when it was asked, and has not been answered since.
    options.compare?.(progress, before - (answered - answeredBefore));
  };
  /** Live queries wait for as long as they are open. */
  const lives = new Set<number>();
  const watchdog = new Watchdog(options.answerTimeout, options.clock, {
    // Whoever has something to hand on has to notice that there is another leader.
    busy: () => waiting > 0 || lives.size > 0 || events.keeps(),
    ping,
    silent: options.silent,
  });
  lost.catch(() => watchdog.stop());

  /** Waits for an answer, and no longer than the other side lives. */
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
    replay: async (opened, changes) => fromFailures(await orLost(api.replay(opened, changes))),
    // What is lost with the other side is asked again on another route.
    execute: async (batch, first) => {
      for (const request of batch) {
        if (request.op === 'live') lives.add(request.live);
        else if (request.op === 'liveEnd') lives.delete(request.live);
      }
      // It is timed from now on, and not from when the last ping was answered.
      if (batch[0]?.mayHang && waiting === 0) watchdog.stop();
      const { values, failures, status, turn } = await answer(api.execute(batch, first, ++asked));
      if (status) events.event({ type: 'status', detail: statusFromWire(status) });
      return { values, failures: failures && fromFailures(failures), turn };
    },
    watch: (on) => orLost(api.watch(on)),
    save: async () => {
      const error: WireError | undefined = await orLost(api.save(++asked));
      if (error) throw fromWire(error);
    },
    leave: () => {
      watchdog.stop();
      options.end();
    },
  };
}

function fromFailures(failures: WireFailures): Map<number, unknown> {
  return new Map(failures.map(([at, error]) => [at, fromWire(error)]));
}
