import { type Endpoint, expose } from 'comlink';
import type { RecoveryKey, RecoveryRecord } from '../../engine/recovery/recovery.ts';
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

/** What a worker sends: an event of the session, a notice for the page, or a reply of comlink. */
export type WorkerMessage = { readonly [EVENT]: WireEvent } | Notice | { readonly id: string };

/** What a worker exposes through comlink. */
export interface WorkerApi extends SessionApi {
  /** Begins to lead. */
  open(settings: DatabaseSettings, lead: LeadershipTerm): Promise<WireOpened>;
  /** Begins the session of the client that has started the worker. */
  join(client: string): WireStatus;
  takeOver(journals: readonly RecoveryRecord[]): void;
  /** Closes the engine to other tabs. */
  retire(): void;
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

/** Events take the same way as replies: what a batch changed arrives before its answer. */
function workerApi(endpoint: Endpoint): WorkerApi {
  let hosted: HostedEngine | undefined;
  let session: SessionApi | undefined;
  const opened = (): SessionApi => {
    if (!session) throw new Error('The engine is not open.');
    return session;
  };

  return {
    async open(settings, lead) {
      const error = await attempt(async () => {
        const tell = (notice: Notice, ports: MessagePort[] = []) =>
          endpoint.postMessage(notice, ports);
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
      session = remoteSession(hosted.engine, client, (event) =>
        endpoint.postMessage({ [EVENT]: event } satisfies WorkerMessage),
      );
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
      }),
    ping: () => session?.ping() ?? { pending: 0, told: 0 },
  };
}
