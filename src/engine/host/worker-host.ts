import { type Endpoint, expose } from 'comlink';
import { nextTurn } from '../../async/next-turn.ts';
import { enginePlatform } from '../../platform/engine-platform.ts';
import { PART_FILES } from '../../protocol/parts.ts';
import { HELLO, READY } from '../../protocol/ready.ts';
import type { RecoveryKey } from '../../protocol/recovery-records.ts';
import {
  EVENT,
  NOTICE,
  type Notice,
  statusToWire,
  type WorkerApi,
  type WorkerMessage,
} from '../../protocol/wire-protocol.ts';
import { type HostedEngine, hostEngine } from './engine-host.ts';
import { attempt, remoteSession } from './session-api.ts';

const loadStorage = () => import('./storage-part.ts');

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
  // The page replaces a worker that has thrown, and retries with the next what this one has not
  // answered: it must save nothing any more.
  endpoint.addEventListener('error', async (event) => {
    await nextTurn();
    if (!(event as Event).defaultPrevented) hosted?.abandon();
  });

  const api = {
    async open(settings, lead) {
      Reflect.set(globalThis, PART_FILES, settings.part_files);
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
        hosted = await hostEngine(settings, known, events, enginePlatform, loadStorage);
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
