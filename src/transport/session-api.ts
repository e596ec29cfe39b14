import type { Engine } from '../engine/engine.ts';
import type { FirstNumbers } from '../engine/origin.ts';
import type { AnsweredChange, EngineStatus, Request } from '../engine/protocol.ts';
import type { Session } from '../engine/session.ts';
import type { Opened } from './route.ts';
import { toWire, type WireError } from './wire-error.ts';
import {
  eventToWire,
  statusToWire,
  type WireEvent,
  type WireFailures,
  type WireReply,
} from './worker-protocol.ts';

/** What a session exposes through comlink. Failures are values: comlink would strip them. */
export interface SessionApi {
  handOn(opened: Opened, changes: readonly AnsweredChange[]): Promise<WireFailures>;
  execute(batch: readonly Request[], first: FirstNumbers): Promise<WireReply>;
  watch(on: boolean): void;
  save(): Promise<WireError | undefined>;
  leave(): void;
  ping(): void;
}

/**
 * Begins a session whose client is on the other side of a boundary.
 *
 * @param tell Takes what is told without being asked.
 */
export function remoteSession(
  engine: Engine,
  client: string,
  tell: (event: WireEvent) => void,
): SessionApi {
  /** The status to send with the reply, while a batch is being executed. */
  let riding: { status: EngineStatus | undefined } | undefined;
  const session: Session = engine.join((event) => {
    if (riding && event.type === 'status') riding.status = event.detail;
    else tell(eventToWire(event));
  }, client);
  return {
    handOn: async (opened, changes) => {
      session.openAll(opened);
      return failuresToWire(await session.handOn(changes));
    },
    execute: async (batch, first) => {
      const mine: typeof riding = { status: undefined };
      riding = mine;
      let reply: ReturnType<Session['execute']>;
      try {
        reply = session.execute(batch, first);
      } finally {
        riding = undefined;
      }
      const { values, failures, turn } = reply instanceof Promise ? await reply : reply;
      return {
        values,
        failures: failures && failuresToWire(failures),
        turn,
        status: mine.status && statusToWire(mine.status),
      };
    },
    watch: (on) => {
      session.watching = on;
    },
    save: () => attempt(() => session.save()),
    leave: () => session.leave(),
    ping: () => undefined,
  };
}

export async function attempt(run: () => Promise<void>): Promise<WireError | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    return toWire(error);
  }
}

function failuresToWire(failures: ReadonlyMap<number, unknown>): WireFailures {
  return Array.from(failures, ([index, error]) => [index, toWire(error)] as const);
}
