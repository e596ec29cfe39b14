import { type Endpoint, expose } from 'comlink';
import type { EngineEvent, EngineStatus } from '../engine/protocol.ts';
import type { Session } from '../engine/session.ts';
import { type HostedEngine, hostEngine } from './engine-host.ts';
import { toWire, type WireError } from './wire-error.ts';
import {
  eventToWire,
  HELLO,
  READY,
  statusToWire,
  type WireReply,
  type WorkerApi,
} from './worker-protocol.ts';

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
  let session: Session | undefined;
  let port: MessagePort | undefined;
  /** The status to send with the reply, while a batch is being executed. */
  let riding: { status: EngineStatus | undefined } | undefined;

  const emit = (event: EngineEvent): void => {
    if (riding && event.type === 'status') riding.status = event.detail;
    else port?.postMessage(eventToWire(event));
  };
  const opened = (): Session => {
    if (!session) throw new Error('The engine is not open.');
    return session;
  };

  return {
    async open(settings, events) {
      port = events;
      const error = await attempt(async () => {
        hosted = await hostEngine(settings);
        session = hosted.engine.join(emit);
      });
      // With the reply and not through the port: whoever opened it has the status then.
      return { error, status: hosted && statusToWire(hosted.engine.status) };
    },
    async execute(batch) {
      riding = { status: undefined };
      const mine = riding;
      let reply: ReturnType<Session['execute']>;
      try {
        reply = opened().execute(batch);
      } finally {
        riding = undefined;
      }
      const { values, failures } = reply instanceof Promise ? await reply : reply;
      return {
        values,
        failures:
          failures && Array.from(failures, ([index, error]) => [index, toWire(error)] as const),
        status: mine.status && statusToWire(mine.status),
      } satisfies WireReply;
    },
    watch(on) {
      opened().watching = on;
    },
    save: () => attempt(() => opened().save()),
    close: () =>
      attempt(async () => {
        session?.leave();
        await hosted?.stop();
        port?.close();
      }),
    ping() {
      return undefined;
    },
  };
}

async function attempt(run: () => Promise<void>): Promise<WireError | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    return toWire(error);
  }
}
