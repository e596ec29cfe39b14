import { type Endpoint, expose } from 'comlink';
import type { RecoveryKey, RecoveryRecord } from '../../engine/recovery.ts';
import type { DatabaseSettings } from '../channel/channel.ts';
import { enginePlatform } from '../platform/engine-platform.ts';
import { type HostedEngine, hostEngine, type LeadershipTerm } from '../thread/engine-host.ts';
import { attempt, remoteSession, type SessionApi } from '../wire/session-api.ts';
import type { WireError } from '../wire/wire-error.ts';
import {
  HELLO,
  NOTICE,
  type Notice,
  READY,
  statusToWire,
  type WireOpened,
  type WireStatus,
} from '../wire/wire-protocol.ts';

/** What a worker exposes through comlink. */
export interface WorkerApi extends SessionApi {
  /** Begins to lead. */
  open(settings: DatabaseSettings, lead: LeadershipTerm, events: MessagePort): Promise<WireOpened>;
  /** Begins the session of the client that has started the worker. */
  join(client: string): WireStatus;
  takeOver(journals: readonly RecoveryRecord[]): void;
  /** Closes the engine to other tabs. */
  retire(): void;
  close(): Promise<WireError | undefined>;
}

/** Hosts an engine behind an endpoint: a worker's own scope, or one end of a MessageChannel. */
export function serve(endpoint: Endpoint): void {
  expose(workerApi(), endpoint);
  endpoint.addEventListener('message', (event) => {
    if ((event as MessageEvent).data === HELLO) endpoint.postMessage(READY);
  });
  endpoint.postMessage(READY);
}

function workerApi(): WorkerApi {
  let hosted: HostedEngine | undefined;
  let session: SessionApi | undefined;
  let port: MessagePort | undefined;
  const opened = (): SessionApi => {
    if (!session) throw new Error('The engine is not open.');
    return session;
  };

  return {
    async open(settings, lead, events) {
      port = events;
      const error = await attempt(async () => {
        const tell = (notice: Notice, ports: MessagePort[] = []) =>
          events.postMessage(notice, ports);
        const told = {
          taken: () => tell({ [NOTICE]: 'taken' }),
          forgotten: (left: readonly RecoveryKey[]) => tell({ [NOTICE]: 'forgotten', left }),
          bring: (address: string, given: MessagePort) =>
            tell({ [NOTICE]: 'bring', address, port: given }, [given]),
        };
        const known = {
          ...lead,
          left: Promise.resolve(lead.left),
          expected: Promise.resolve(lead.expected),
        };
        hosted = await hostEngine(settings, known, told, enginePlatform);
      });
      return { error, shared: hosted?.shared === true };
    },
    join(client) {
      if (!hosted) throw new Error('The engine is not open.');
      session = remoteSession(hosted.engine, client, (event) => port?.postMessage(event));
      // With the reply and not through the port: whoever joins has the status then.
      return statusToWire(hosted.engine.status);
    },
    replay: (handles, changes) => opened().replay(handles, changes),
    execute: (...args) => opened().execute(...args),
    watch: (on) => opened().watch(on),
    save: (place) => opened().save(place),
    leave: () => opened().leave(),
    takeOver: (journals) => hosted?.engine.takeOver(journals),
    retire: () => hosted?.retire(),
    close: () =>
      attempt(async () => {
        session?.leave();
        await hosted?.stop();
        port?.close();
      }),
    ping: () => session?.ping() ?? { pending: 0, told: 0 },
  };
}
