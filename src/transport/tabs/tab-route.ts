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

/** An event as a leader tells it to another tab. */
export interface TabEvent {
  readonly [EVENT]: WireEvent;
  /** How many were told by now. */
  readonly told: number;
}

/**
 * Seconds after which a leader that is silent is replaced. A page that was frozen does not notice; anything else
 * answers within milliseconds.
 */
const SILENCE_S = 5;

/** How long a leader may take to let somebody in. */
const WELCOME_MS = 2000;

/** So late a port is asked for: whoever opens a database, or has just lost its leader, has better things to do. */
const PORT_MS = 250;

/** What a leader exposes to another tab through comlink. */
export interface TabApi extends SessionApi {
  /** Brings a port for the channel of the two to where it is waited for. Older leaders cannot. */
  bringPort(address: string): void;
}

/** Who asks to be let in, and how. */
export interface TabRouteOptions {
  readonly client: string;
  /** A name for the channel that no other has. */
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
    const { [EVENT]: event, told: number = 0 } = (message.data ?? {}) as Partial<TabEvent>;
    if (!event) return;
    if (number !== ++told) events.gap();
    events.event(eventFromWire(event));
  }) as EventListener);
  let told = 0;
  const api = wrap<TabApi>(channel);
  let stopWaiting =
    switchboard &&
    clock.after(PORT_MS, () => {
      stopWaiting = switchboard.open(
        // A leader that cannot leaves the channel as it is.
        (address) => void api.bringPort(address).catch(() => stopWaiting?.()),
        (port) => channel.use(port),
      );
    });
  return remoteRoute(api, {
    started: 'tab',
    own: false,
    answerTimeout: SILENCE_S,
    clock,
    silent: () => events.silent(silent()),
    events,
    compare: (progress, waiting) => {
      // Messages keep their order: what was told or answered before this must have arrived.
      if (progress.told > told || progress.pending < waiting) events.gap();
    },
    lost: new Promise(() => undefined),
    end: () => {
      stopWaiting?.();
      // Nobody waits for the answer: the channel is closed, at once, as a page that rests must not hear anything.
      api.leave().catch(() => undefined);
      api[releaseProxy]();
      end();
    },
  });
}

function welcomed(channel: Broadcast, clock: Clock, ask: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(WELCOME_MS, () => reject(silent()));
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

function silent(): WorkerError {
  return new WorkerError(
    'worker_unresponsive',
    `The tab that leads the database has not answered for ${SILENCE_S} s.`,
  );
}
