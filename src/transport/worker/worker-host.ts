import { type Endpoint, expose } from 'comlink';
import type { RecoveryKey, RecoveryRecord } from '../../engine/recovery/recovery-records.ts';
import { nextTurn } from '../../engine/scheduling/next-turn.ts';
import type { DatabaseSettings } from '../channel/channel.ts';
import { enginePlatform } from '../platform/engine-platform.ts';
import { type HostedEngine, hostEngine, type LeadershipTerm } from '../thread/engine-host.ts';
import { attempt, remoteSession, type SessionApi } from '../wire/session-api.ts';
import type { WireError } from '../wire/wire-error.ts';
import {
  EVENT,
  HELLO,
  NOTICE,
  type Notice,
  READY,
  statusToWire,
  type WireEvent,
  type WireOpened,
  type WireStatus,
} from '../wire/wire-protocol.ts';

/** What a worker sends: events of the session, a notice for the page, or a reply of comlink. */
export type WorkerMessage =
  | { readonly [EVENT]: readonly WireEvent[] }
  | Notice
  | { readonly id: string };

/** What a worker exposes through comlink. */
export interface WorkerApi extends SessionApi {
  /** Opens the storage and starts the engine. */
  open(settings: DatabaseSettings, lead: LeadershipTerm): Promise<WireOpened>;
  /** Starts the session of the client that started the worker. */
  join(client: string): WireStatus;
  replayJournals(journals: readonly RecoveryRecord[]): void;
  /** Closes the engine to followers, and starts no further write. */
  resign(): void;
  close(): Promise<WireError | undefined>;
}

/** Hosts an engine behind an endpoint: a worker's own scope, or one end of a MessageChannel. */
export function serve(endpoint: Endpoint): void {
  expose(workerApi(endpoint), endpoint);
  endpoint.addEventListener('message', (event) => {
    if ((event as MessageEvent).data === HELLO) endpoint.postMessage(READY);
  });
  endpoint.postMessage(READY);
}

/** Events share a channel with replies: the events of a batch arrive before its reply. */
function workerApi(endpoint: Endpoint): WorkerApi {
  let hosted: HostedEngine | undefined;
  let session: SessionApi | undefined;
  const opened = (): SessionApi => {
    if (!session) throw new Error('The engine is not open.');
    return session;
  };
  // The page replaces a worker that has thrown, and retries with the next what this one has not answered: it must save
  // nothing any more.
  endpoint.addEventListener('error', async (event) => {
    await nextTurn();
    if (!(event as Event).defaultPrevented) hosted?.abandon();
  });

  return {
    async open(settings, lead) {
      const error = await attempt(async () => {
        const notify = (notice: Notice, ports: MessagePort[] = []) =>
          endpoint.postMessage(notice, ports);
        const events = {
          superseded: () => notify({ [NOTICE]: 'superseded' }),
          recovered: (keys: readonly RecoveryKey[]) => notify({ [NOTICE]: 'recovered', keys }),
          bring: (address: string, port: MessagePort) =>
            notify({ [NOTICE]: 'bring', address, port }, [port]),
        };
        const known = {
          ...lead,
          journals: Promise.resolve(lead.journals),
          expected: Promise.resolve(lead.expected),
        };
        hosted = await hostEngine(settings, known, events, enginePlatform);
      });
      return { error, shared: hosted?.shared === true };
    },
    join(client) {
      if (!hosted) throw new Error('The engine is not open.');
      session = remoteSession(hosted.engine, client, (events) =>
        endpoint.postMessage({ [EVENT]: events } satisfies WorkerMessage),
      );
      return statusToWire(hosted.engine.status);
    },
    replay: (handles, changes) => opened().replay(handles, changes),
    execute: (...args) => opened().execute(...args),
    watch: (on) => opened().watch(on),
    save: (place) => opened().save(place),
    leave: () => opened().leave(),
    replayJournals: (journals) => hosted?.engine.takeOver(journals),
    resign: () => hosted?.resign(),
    close: () =>
      attempt(async () => {
        session?.leave();
        await hosted?.stop();
      }),
    ping: () => session?.ping() ?? { pending: 0, sent: 0 },
  };
}
