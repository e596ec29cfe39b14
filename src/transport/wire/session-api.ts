import { isPromise } from '../../codec/kinds.ts';
import type { Engine } from '../../engine/engine.ts';
import type { EngineEvent } from '../../engine/protocol/event-protocol.ts';
import type { FirstSequenceNumbers } from '../../engine/protocol/idempotency-key.ts';
import type { AcknowledgedChange, OpenedHandles, Request } from '../../engine/protocol/requests.ts';
import { nextTurn } from '../../engine/scheduling/next-turn.ts';
import type { Session } from '../../engine/sessions/session.ts';
import { SentDocuments } from './sent-documents.ts';
import { toWire, type WireError } from './wire-error.ts';
import {
  eventToWire,
  type WireEvent,
  type WireFailures,
  type WireReplayed,
  type WireReply,
} from './wire-protocol.ts';

/**
 * Microtasks that events wait for a reply to carry them. The reply to a save follows the events of the save within fewer, and
 * a reply becomes a message within fewer.
 */
const REPLY_WITHIN = 32;

/** Progress of a session. */
export interface SessionProgress {
  /** Calls without a reply. */
  readonly pending: number;
  /** Messages with events sent so far. */
  readonly sent: number;
}

/** The methods that a session exposes through comlink. Failures are values: comlink would strip their fields. */
export interface SessionApi {
  replay(
    opened: OpenedHandles,
    changes: readonly AcknowledgedChange[],
    database: string | undefined,
  ): Promise<WireReplayed>;
  /** @param sequence Counts the calls of `execute` and `save`. A call behind a lost one gets no reply. */
  execute(
    batch: readonly Request[],
    first: FirstSequenceNumbers,
    sequence: number,
  ): Promise<WireReply>;
  watch(on: boolean): void;
  save(sequence: number): Promise<WireError | undefined>;
  leave(): void;
  ping(): SessionProgress;
}

/** A session, and its end. */
interface ServedSession extends SessionApi {
  /** Takes no further calls: the client retries them with the next engine. Calls back when it has sent all other answers. */
  finish(answered: () => void): void;
}

/**
 * Starts a session whose client is in another thread or tab. Events of one turn share a message: a client shows the
 * results of all its live queries on a transaction together.
 *
 * @param send Sends events, with the sequence number of the message.
 * @param mayLose Whether the channel may lose messages.
 */
export function remoteSession(
  engine: Engine,
  client: string,
  send: (events: readonly WireEvent[], number: number) => void,
  mayLose = false,
): ServedSession {
  /** The client listens from its first call on. */
  let isListening = false;
  let sent = 0;
  let pending = 0;
  /** Calls received that must not overtake each other. */
  let received = 0;
  /** Called when no call is pending any more; set once no further one is taken. */
  let finished: (() => void) | undefined;
  const count = async <T>(call: () => Promise<T>): Promise<T> => {
    pending++;
    try {
      return await call();
    } finally {
      if (--pending === 0) finished?.();
    }
  };
  /** Behind a lost call none gets a reply: the client notices by a ping, and retries them all in order. */
  const inSequence = <T>(sequence: number, call: () => Promise<T>): Promise<T> =>
    !finished && (sequence === ++received || !mayLose)
      ? count(call)
      : new Promise<never>(() => undefined);
  const documents = new SentDocuments();
  let outgoing: WireEvent[] = [];
  const takeEvents = (): WireEvent[] => {
    const events = outgoing;
    outgoing = [];
    return events;
  };
  const flush = (): void => {
    if (outgoing.length > 0) send(takeEvents(), ++sent);
  };
  /**
   * Sends events in a message of their own, unless a reply carries them before: that saves a message. Never sooner, as they must
   * not overtake a reply with earlier events that is not a message yet.
   */
  const flushUnlessReply = async (events: readonly WireEvent[]): Promise<void> => {
    for (let turn = 0; turn < REPLY_WITHIN; turn++) {
      await undefined;
      if (outgoing !== events) return;
    }
    flush();
  };
  const tell = (event: EngineEvent): void => {
    // The newest status says all.
    if (event.type === 'status') {
      const before = outgoing.findIndex(({ type }) => type === 'status');
      if (before >= 0) outgoing.splice(before, 1);
    }
    if (outgoing.push(eventToWire(event)) === 1) void flushUnlessReply(outgoing);
  };
  const session: Session = engine.join((event) => {
    if (isListening) tell(event);
  }, client);
  const execute = async (
    batch: readonly Request[],
    first: FirstSequenceNumbers,
  ): Promise<WireReply> => {
    const reply = session.execute(batch, first);
    const { values, failures, turn } = isPromise(reply) ? await reply : reply;
    return {
      values: values.map((value, index) => documents.reply(batch[index] as Request, value)),
      failures: failures && failuresToWire(failures),
      turn,
      events: outgoing.length > 0 ? takeEvents() : undefined,
    };
  };
  return {
    replay: (opened, changes, known) => {
      isListening = true;
      const replayed = session.resume(opened, changes, known);
      tell({ type: 'status', detail: engine.status });
      return count(() =>
        replayed.then(
          ({ failures, database }) => ({
            ...{ failures: failuresToWire(failures), database, error: undefined },
          }),
          (error: unknown) => ({ failures: [], database: undefined, error: toWire(error) }),
        ),
      );
    },
    execute: (batch, first, sequence) => {
      // Answers may wait until the client has taken news.
      if (finished) void session.execute(batch.filter(({ op }) => op === 'liveNext'));
      return inSequence(sequence, () => execute(batch, first));
    },
    watch: (on) => {
      session.watching = on;
    },
    save: (sequence) => inSequence(sequence, () => attempt(() => session.save())),
    leave: () => {
      // Its channel closes next.
      flush();
      session.leave();
    },
    ping: () => ({ pending, sent }),
    finish: (answered) => {
      // Answers become messages before the next turn.
      finished = () => void nextTurn().then(answered);
      if (pending === 0) finished();
    },
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
