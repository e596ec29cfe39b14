import { nextTurn } from '../../async/next-turn.ts';
import type { Body } from '../../codec/body.ts';
import { isPromise } from '../../codec/kinds.ts';
import type { EngineEvent } from '../../protocol/event-protocol.ts';
import type {
  FirstSequenceNumbers,
  FoundVersions,
  Request,
  ScanReply,
  SentVersions,
  SharedAsk,
} from '../../protocol/requests.ts';
import { toWire, type WireError } from '../../protocol/wire-error.ts';
import {
  eventToWire,
  type SessionApi,
  type WireEvent,
  type WireFailures,
  type WireReply,
} from '../../protocol/wire-protocol.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { Engine } from '../engine.ts';
import { columnsOfRecords, versionNumber } from '../records/record-store.ts';
import type { Session } from '../sessions/session.ts';

/**
 * Microtasks that events wait for a reply to carry them. The reply to a save follows the events of
 * the save within fewer, and a reply becomes a message within fewer.
 */
const REPLY_WITHIN = 32;

/** A session, and its end. */
interface ServedSession extends SessionApi {
  /**
   * Takes no further calls: the client retries them with the next engine. Calls back when it has
   * sent all other answers.
   */
  finish(answered: () => void): void;
}

/** Leaves out of replies what the caches of a client have: an unchanged document is sent once. */
export class SentDocuments {
  readonly #held = new Map<number, Held>();
  /** Begins anywhere: a client may confirm the replies of an earlier engine. */
  #replies = Math.random();

  /** The reply to a request as its client gets it. */
  reply(request: Request, value: unknown): unknown {
    if (request.op === 'drop') this.#held.delete(request.handle);
    const ask = 'shared' in request ? request.shared : undefined;
    if (!ask || value === undefined) return value;
    const held = this.#heldBy(request.handle, ask);
    if (request.op === 'getShared') return this.#send(held, value as FoundVersions);
    const reply = value as ScanReply;
    return { ...reply, shared: this.#send(held, reply.shared as FoundVersions) };
  }

  #heldBy(handle: number, { cache, received }: SharedAsk): Held {
    let held = this.#held.get(handle);
    if (held?.cache !== cache) {
      const isOld = held && held.cache > cache;
      held = { cache, versions: new Map(), unconfirmed: new Map() };
      // A late request of an earlier cache gets everything.
      if (!isOld) this.#held.set(handle, held);
    }
    for (const number of received) {
      for (const record of held.unconfirmed.get(number) ?? [])
        held.versions.set(record.key, record);
      held.unconfirmed.delete(number);
    }
    return held;
  }

  #send({ versions, unconfirmed }: Held, { records, bodies }: FoundVersions): SentVersions {
    const numbers = Float64Array.from(records, versionNumber);
    const sent: StoredRecord[] = [];
    const places: number[] = [];
    for (const [place, record] of records.entries()) {
      if (!record || versions.get(record.key) === record) continue;
      places.push(place);
      sent.push(record);
    }
    const reply = ++this.#replies;
    if (sent.length > 0) unconfirmed.set(reply, sent);
    if (unconfirmed.size > MOST_UNCONFIRMED) {
      const [oldest] = unconfirmed.keys();
      unconfirmed.delete(oldest as number);
    }
    return {
      ...{ versions: numbers, places, columns: columnsOfRecords(sent), reply },
      bodies: places.map((place) => bodies[place] as Body),
    };
  }
}

/**
 * Starts a session whose client is in another thread or tab. Events of one turn share a message: a
 * client shows the results of all its live queries on a transaction together.
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
  /**
   * Behind a lost call none gets a reply: the client notices by a ping, and retries them all in
   * order.
   */
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
   * Sends events in a message of their own, unless a reply carries them before: that saves a
   * message. Never sooner, as they must not overtake a reply with earlier events that is not a
   * message yet.
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
      // Answers may wait until the client has taken updates.
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

/** Replies of one cache that it has not confirmed, at most: an aborted call confirms none. */
const MOST_UNCONFIRMED = 256;

/** What the cache of a handle holds, as far as it has confirmed it. */
interface Held {
  readonly cache: number;
  /** By id, the version that it has. */
  readonly versions: Map<string, StoredRecord>;
  /** What replies carried, by their numbers. */
  readonly unconfirmed: Map<number, readonly StoredRecord[]>;
}
