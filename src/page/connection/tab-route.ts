import type { Clock } from '../../async/clock.ts';
import { StorageError, WorkerError } from '../../errors/errors.ts';
import type { Announcements, Leader } from '../../platform/announcements.ts';
import { PairChannel } from '../../platform/pair-channel.ts';
import type { Broadcast, Switchboard } from '../../platform/platform.ts';
import type { ClientEncryption, Prove } from '../../protocol/client-encryption.ts';
import { READY } from '../../protocol/ready.ts';
import { EVENT, eventFromWire, type TabApi, type TabEvent } from '../../protocol/wire-protocol.ts';
import { CHALLENGE, keyMissing, PROOF } from '../../storage/drivers/encryption-key.ts';
import { notEncrypted } from '../../storage/drivers/not-encrypted.ts';
import type { LeaderEngine } from './leadership.ts';
import { remoteMethods, remoteRoute, SESSION_METHODS } from './remote-route.ts';
import type { Route, RouteEvents } from './route.ts';

/**
 * Seconds after which a silent leader is replaced. A leader that is not frozen answers within
 * milliseconds.
 */
const SILENCE_S = 5;

/** Time for a leader to accept a client. */
const WELCOME_MS = 2000;

/** Delay before a port is requested: opening and failover come first. */
const PORT_MS = 250;

/** The client that asks for a session, and its means. */
export interface TabRouteOptions {
  readonly client: string;
  /** Unique name of the channel. */
  readonly channel: string;
  readonly broadcast: (name: string) => Broadcast;
  readonly announcements: Announcements;
  readonly clock: Clock;
  readonly switchboard: Switchboard | undefined;
  /** Proves the key of an encrypted database. */
  readonly prove: Prove | undefined;
}

/** A route to the engine of another tab. */
export async function tabRoute(
  { leader }: Leader,
  { client, channel: name, broadcast, announcements, clock, switchboard, prove }: TabRouteOptions,
  events: RouteEvents,
): Promise<Route> {
  const channel = new PairChannel(name, broadcast);
  const end = () => channel.close();
  try {
    const proving = prove && ((challenge: Uint8Array) => prove([leader, client, name], challenge));
    await welcomed(channel, clock, proving, () =>
      announcements.say({ type: 'join', leader, client, channel: name }),
    );
  } catch (error) {
    end();
    throw error;
  }
  channel.addEventListener('message', ((message: MessageEvent) => {
    const { [EVENT]: delivered, number = 0 } = (message.data ?? {}) as Partial<TabEvent>;
    if (!delivered) return;
    if (number !== ++received) events.lost(undefined);
    for (const event of delivered) events.event(eventFromWire(event));
  }) as EventListener);
  let received = 0;
  const api = remoteMethods<TabApi, keyof TabApi>(channel, [...SESSION_METHODS, 'bringPort']);
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
    silent: () => events.lost(silent(SILENCE_S)),
    events,
    compare: (progress, waiting) => {
      // Messages keep their order: earlier events and replies must have arrived.
      if (progress.sent > received || progress.pending < waiting) events.lost(undefined);
    },
    lost: new Promise(() => undefined),
    end: () => {
      stopWaiting?.();
      // No reply comes: the channel closes at once, as a page in the back/forward cache must not
      // receive messages.
      api.leave().catch(() => undefined);
      api.release();
      end();
    },
  });
}

/** What a leader says before it serves. */
interface Welcome {
  readonly [CHALLENGE]?: Uint8Array;
  readonly [PROOF]?: false;
}

/**
 * Resolves once the leader serves this client.
 *
 * @throws {StorageError} `key_missing`, `not_encrypted`, `key_wrong`
 */
function welcomed(
  channel: Broadcast,
  clock: Clock,
  prove: ((challenge: Uint8Array) => Promise<Uint8Array>) | undefined,
  ask: () => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    let cancel = (): void => undefined;
    const end = (settle: () => void): void => {
      if (isOver) return;
      isOver = true;
      cancel();
      channel.removeEventListener('message', listener);
      settle();
    };
    const fail = (error: unknown) => end(() => reject(error));
    const wait = () => {
      cancel = clock.after(WELCOME_MS, () => fail(silent(WELCOME_MS / 1000)));
    };
    let isAsked = false;
    let hasProven = false;
    const answer = async (challenge: Uint8Array): Promise<void> => {
      if (!prove) throw keyMissing();
      // To derive a key from a password takes longer on a slow device than a leader may be silent.
      cancel();
      const proof = await prove(challenge);
      if (isOver) return;
      hasProven = true;
      channel.postMessage({ [PROOF]: proof });
      wait();
    };
    const listener = ((event: MessageEvent<Welcome | typeof READY | undefined>) => {
      const { data } = event;
      if (data === READY) return hasProven || !prove ? end(resolve) : fail(notEncrypted());
      if (data?.[PROOF] === false) return fail(keyRefused());
      if (!data?.[CHALLENGE] || isAsked) return;
      isAsked = true;
      answer(data[CHALLENGE]).catch(fail);
    }) as EventListener;
    channel.addEventListener('message', listener);
    wait();
    ask();
  });
}

function keyRefused(): StorageError {
  return new StorageError(
    'key_wrong',
    'The key does not open this database: the tab that leads it has another.',
  );
}

function silent(seconds: number): WorkerError {
  return new WorkerError(
    'worker_unresponsive',
    `The leader's tab did not answer for ${seconds} s.`,
  );
}

/**
 * Compares the key of a client with that of the engine of its page.
 *
 * @throws {StorageError} `key_wrong`; `key_missing`, also where the engine lacks the key of what is
 *   stored; `not_encrypted`
 */
export async function checkEngineKey(
  name: string,
  encryption: ClientEncryption | undefined,
  { isEncrypted, keyRecord }: LeaderEngine,
): Promise<void> {
  if (!encryption && isEncrypted) throw keyMissing();
  const record = encryption && (await keyRecord?.());
  if (record === LACKS_KEY) throw keyMissing();
  if (encryption && !isEncrypted) throw notEncrypted();
  await encryption?.check(name, record);
}

/** What an engine says of the key where what is stored has one, and the engine has none. */
const LACKS_KEY = 'key_missing';

export function busy(place: string): StorageError {
  return new StorageError(
    'database_busy',
    `Database "${place}" is open elsewhere: in another tab, or through another client. Close it there first.`,
    { place },
  );
}

export function tooOld(place: string): StorageError {
  return new StorageError(
    'format_newer',
    `Database "${place}" is open in a tab with a newer version of cairndb. Reload this page.`,
    { place },
  );
}
