import { releaseProxy, wrap } from 'comlink';
import type { Clock } from '../../engine/scheduling/clock.ts';
import { WorkerError } from '../../errors/worker-error.ts';
import type { Route, RouteEvents } from '../channel/route.ts';
import type { Broadcast } from '../platform/platform.ts';
import { remoteRoute } from '../wire/remote-route.ts';
import type { SessionApi } from '../wire/session-api.ts';
import { EVENT, eventFromWire, READY, type WireEvent } from '../wire/wire-protocol.ts';
import type { Announcements, Leader } from './announcements.ts';
import { PairChannel } from './pair-channel.ts';
import type { Switchboard } from './switchboard.ts';

/** Events from the leader to a follower. */
export interface TabEvent {
  readonly [EVENT]: readonly WireEvent[];
  /** Counts the messages of the session: a gap is a lost one. */
  readonly number: number;
}

/**
 * Seconds after which a silent leader is replaced. A leader that is not frozen answers within milliseconds.
 */
const SILENCE_S = 5;

/** Time for a leader to accept a client. */
const WELCOME_MS = 2000;

/** Delay before a port is requested: opening and failover come first. */
const PORT_MS = 250;

/** The methods that a leader exposes to a follower through comlink. */
export interface TabApi extends SessionApi {
  /** Brings a port for the channel to an address. Older leaders cannot. */
  bringPort(address: string): void;
}

/** The client that asks for a session, and its means. */
export interface TabRouteOptions {
  readonly client: string;
  /** Unique name of the channel. */
  readonly channel: string;
  readonly broadcast: (name: string) => Broadcast;
  readonly announcements: Announcements;
  readonly clock: Clock;
  readonly switchboard: Switchboard | undefined;
}

/** A route to the engine of another tab. */
export async function tabRoute(
  { leader }: Leader,
  { client, channel: name, broadcast, announcements, clock, switchboard }: TabRouteOptions,
  events: RouteEvents,
): Promise<Route> {
  const channel = new PairChannel(name, broadcast);
  const end = () => channel.close();
  try {
    await welcomed(channel, clock, () =>
      announcements.say({ type: 'join', leader, client, channel: name }),
    );
  } catch (error) {
    end();
    throw error;
  }
  channel.addEventListener('message', ((message: MessageEvent) => {
    const { [EVENT]: told, number = 0 } = (message.data ?? {}) as Partial<TabEvent>;
    if (!told) return;
    if (number !== ++received) events.gap();
    for (const event of told) events.event(eventFromWire(event));
  }) as EventListener);
  let received = 0;
  const api = wrap<TabApi>(channel);
  let stopWaiting =
    switchboard &&
    clock.after(PORT_MS, () => {
      stopWaiting = switchboard.open(
        // An older leader rejects: the BroadcastChannel stays.
        (address) => void api.bringPort(address).catch(() => stopWaiting?.()),
        (port) => channel.use(port),
      );
    });
  return remoteRoute(api, {
    started: 'tab',
    own: false,
    answerTimeout: SILENCE_S,
    clock,
    silent: () => events.silent(silent(SILENCE_S)),
    events,
    compare: (progress, waiting) => {
      // Messages keep their order: earlier events and replies must have arrived.
      if (progress.sent > received || progress.pending < waiting) events.gap();
    },
    lost: new Promise(() => undefined),
    end: () => {
      stopWaiting?.();
      // No reply comes: the channel closes at once, as a page in the back/forward cache must not receive messages.
      api.leave().catch(() => undefined);
      api[releaseProxy]();
      end();
    },
  });
}

function welcomed(channel: Broadcast, clock: Clock, ask: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(WELCOME_MS, () => reject(silent(WELCOME_MS / 1000)));
    const listener = ((event: MessageEvent) => {
      if (event.data !== READY) return;
      cancel();
      channel.removeEventListener('message', listener);
      resolve();
    }) as EventListener;
    channel.addEventListener('message', listener);
    ask();
  });
}

function silent(seconds: number): WorkerError {
  return new WorkerError(
    'worker_unresponsive',
    `The leader's tab did not answer for ${seconds} s.`,
  );
}
