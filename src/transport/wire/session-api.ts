import type { Engine } from '../../engine/engine.ts';
import type { FirstSequenceNumbers } from '../../engine/protocol/idempotency-key.ts';
import type {
  AcknowledgedChange,
  EngineStatus,
  OpenedHandles,
  Request,
} from '../../engine/protocol/requests.ts';
import type { Session } from '../../engine/sessions/session.ts';
import { toWire, type WireError } from './wire-error.ts';
import {
  eventToWire,
  statusToWire,
  type WireEvent,
  type WireFailures,
  type WireReply,
} from './wire-protocol.ts';

/** How far a session is. */
export interface SessionProgress {
  /** Calls that are not answered yet. */
  readonly pending: number;
  /** Events that were told. */
  readonly told: number;
}

/** What a session exposes through comlink. Failures are values: comlink would strip them. */
export interface SessionApi {
  replay(opened: OpenedHandles, changes: readonly AcknowledgedChange[]): Promise<WireFailures>;
  /** @param place How many calls of these two kinds there are by now: one that comes after a lost one is not answered. */
  execute(
    batch: readonly Request[],
    first: FirstSequenceNumbers,
    place: number,
  ): Promise<WireReply>;
  watch(on: boolean): void;
  save(place: number): Promise<WireError | undefined>;
  leave(): void;
  ping(): SessionProgress;
}

/**
 * Begins a session whose client is on the other side of a boundary.
 *
 * @param tell Takes what is told without being asked, and how many it is by now.
 * @param mayLose Whether messages may get lost on the way.
 */
export function remoteSession(
  engine: Engine,
  client: string,
  tell: (event: WireEvent, told: number) => void,
  mayLose = false,
): SessionApi {
  /** The status to send with the reply, while a batch is being executed. */
  let riding: { status: EngineStatus | undefined } | undefined;
  /** Whether the client listens: from its first call on. */
  let isHeard = false;
  let told = 0;
  let pending = 0;
  /** Calls that have come, of those that must not overtake each other. */
  let heard = 0;
  const count = async <T>(call: () => Promise<T>): Promise<T> => {
    pending++;
    try {
      return await call();
    } finally {
      pending--;
    }
  };
  /** Once one is lost none is answered any more: whoever asks notices by a ping, and asks for all of it again. */
  const inPlace = <T>(place: number, call: () => Promise<T>): Promise<T> =>
    place === ++heard || !mayLose ? count(call) : new Promise<never>(() => undefined);
  const session: Session = engine.join((event) => {
    if (riding && event.type === 'status') riding.status = event.detail;
    else if (isHeard) tell(eventToWire(event), ++told);
  }, client);
  const execute = async (
    batch: readonly Request[],
    first: FirstSequenceNumbers,
  ): Promise<WireReply> => {
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
  };
  return {
    replay: (opened, changes) => {
      session.openAll(opened);
      isHeard = true;
      tell(eventToWire({ type: 'status', detail: engine.status }), ++told);
      return count(async () => failuresToWire(await session.replay(changes)));
    },
    execute: (batch, first, place) => inPlace(place, () => execute(batch, first)),
    watch: (on) => {
      session.watching = on;
    },
    save: (place) => inPlace(place, () => attempt(() => session.save())),
    leave: () => session.leave(),
    ping: () => ({ pending, told }),
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
