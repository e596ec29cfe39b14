import { type Endpoint, expose } from 'comlink';
import type { RecoveryKey, RecoveryRecord } from '../../engine/recovery/recovery-records.ts';
import { nextTurn } from '../../engine/scheduling/next-turn.ts';
import type { DatabaseSettings } from '../channel/channel.ts';
import { enginePlatform } from '../platform/engine-platform.ts';
import type { EnginePlatform } from '../platform/platform.ts';
import { type HostedEngine, hostEngine, type LeadershipTerm } from '../thread/engine-host.ts';
import { HELLO, READY } from '../wire/ready.ts';
import { attempt, remoteSession, type SessionApi } from '../wire/session-api.ts';
import type { WireError } from '../wire/wire-error.ts';
import {
  EVENT,
  NOTICE,
  type Notice,
  statusToWire,
  type WireEvent,
  type WireOpened,
  type WireStatus,
} from '../wire/wire-protocol.ts';
import { loadModule } from './load-module.ts';

const platform: EnginePlatform = Object.create(enginePlatform, {
  loadModule: { value: loadModule },
});

/** What a worker sends: events of the session, a notice for the page, or a reply of comlink. */
export type WorkerMessage =
  | { readonly [EVENT]: readonly WireEvent[] }
  | Notice
  | { readonly id: string };

/** What a worker exposes through comlink. */
export interface WorkerApi extends SessionApi {
  /** Opens the storage and starts the engine. */
  open(settings: DatabaseSettings, lead: LeadershipTerm): Promise<WireOpened>;
  /** Starts the session of a client: of the first at the worker itself, of another at a port of its own. */
  join(client: string, port?: MessagePort): WireStatus;
  replayJournals(journals: readonly RecoveryRecord[]): void;
  /** What is stored of the key of an encrypted database. */
  keyRecord(): Promise<unknown>;
  /** Begins no write for a second: the page may end. */
  pause(): void;
  /** Closes the engine to followers, and starts no further write. */
  resign(): void;
  close(deleting: boolean): Promise<WireError | undefined>;
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
  const engine = () => {
    if (!hosted) throw new Error('The engine is not open.');
    return hosted.engine;
  };
  // The page replaces a worker that has thrown, and retries with the next what this one has not answered: it must save
  // nothing any more.
  endpoint.addEventListener('error', async (event) => {
    await nextTurn();
    if (!(event as Event).defaultPrevented) hosted?.abandon();
  });

  const api = {
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
        hosted = await hostEngine(settings, known, events, platform);
      });
      return { error, shared: hosted?.shared === true };
    },
    join(client, port) {
      const from: Endpoint = port ?? endpoint;
      const session = remoteSession(engine(), client, (events) =>
        from.postMessage({ [EVENT]: events } satisfies WorkerMessage),
      );
      if (port) expose(session, port);
      else Object.assign(api, session);
      return statusToWire(engine().status);
    },
    keyRecord: () => hosted?.keyRecord?.(),
    replayJournals: (journals) => hosted?.engine.takeOver(journals),
    pause: () => hosted?.engine.pause(),
    resign: () => hosted?.resign(),
    close: (deleting) => attempt(async () => hosted?.stop(deleting)),
    ping: () => ({ pending: 0, sent: 0 }),
  } as WorkerApi;
  return api;
}
