import { inMicrotask } from '../../async/next-turn.ts';
import { isPromise } from '../../codec/kinds.ts';
import {
  asCairnError,
  BackupError,
  type CairnError,
  CollectionError,
  WorkerError,
} from '../../errors/errors.ts';
import { isLong, isOfCall, isRead, isUrgent } from '../../protocol/operations.ts';
import type { BatchReply, FirstSequenceNumbers, Request } from '../../protocol/requests.ts';
import type { CallOrder } from './call-order.ts';
import { numberedChanges, OpenHandles } from './replay.ts';
import type { EngineInThread, Route } from './route.ts';

/** A request that ends every engine must not be retried for ever. */
const ATTEMPTS = 4;

/** A request with its caller's promise. */
interface PendingCall {
  readonly request: Request;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Called with each reply before its callers get it.
 *
 * @returns resolves when the changes of the batch may be acknowledged; `undefined` for at once.
 */
export type NoteReply = (
  batch: readonly Request[],
  first: FirstSequenceNumbers,
  reply: BatchReply,
) => Promise<void> | undefined;

interface RequestingClient {
  readonly name: string;
  /** The error of a new request; `undefined` while they are accepted. */
  refusal(request: Request): CairnError | undefined;
  /** Whether an engine was found; looks for one if not. */
  reaches(): boolean;
}

/** Whose requests are sent. */
export interface Caller {
  readonly handle: number;
  /** The order in which its requests wait; left out for those that overtake calls. */
  readonly order: CallOrder | undefined;
  /** Of a call that can be aborted: its number in requests, and its signal. */
  readonly abort?: { readonly call: number; readonly signal: AbortSignal } | undefined;
}

interface InFlight {
  readonly send: (route: Route) => unknown;
  /** The requests; none for a command about the whole client. */
  readonly batch: readonly Request[];
  readonly first: FirstSequenceNumbers;
  readonly settle: (reply: never) => void;
  readonly reject: (error: unknown) => void;
  readonly mayHang: boolean;
  /** The route that it was sent on. */
  route: Route | undefined;
  attempts: number;
}

/**
 * A client's requests without a reply. Those of one microtask travel as one batch. When the engine
 * is lost, the client retries them with the next; sequence numbers keep changes from being applied
 * twice.
 *
 * Only the end of its worker stops a pattern that hangs. At most one request that may hang is in
 * flight, so a hang is attributed to it; the requests behind it keep their order.
 */
export class InFlightRequests {
  readonly handles = new OpenHandles();
  /** Of the link to the engine. */
  noteReply: NoteReply = () => undefined;
  readonly #client: RequestingClient;
  /** Calls of this microtask; until an engine was found, all calls. */
  #queue: PendingCall[] = [];
  #flushing = false;
  /** In the order of the calls. */
  readonly #all = new Set<InFlight>();
  /** Not yet sent on the present route. */
  readonly #unsent = new Set<InFlight>();
  /** How many collections are being opened. */
  #opening = 0;
  /** The request in flight that may hang. */
  #hanging: InFlight | undefined;
  #route: Route | undefined;
  /** Set once no engine will answer any more. */
  #refusal: CairnError | undefined;
  /** Called when nothing is in flight. */
  #drained: (() => void)[] = [];

  constructor(client: RequestingClient) {
    this.#client = client;
  }

  /** Whether calls wait for an engine, other than to open. */
  get hasQueued(): boolean {
    return this.#queue.some(isNoOpening);
  }

  *changes(): Generator<readonly [request: Request, index: number, number: number]> {
    for (const { batch, first } of this.#all) yield* numberedChanges(batch, first);
  }

  /** Sends a caller's requests, each after the exclusive call that runs in its order. */
  sendFor({ handle, order, abort }: Caller): (request: { handle?: number }) => Promise<unknown> {
    const send = (request: { handle?: number }): Promise<unknown> => {
      if (order?.busy) return order.enter(() => send(request));
      // In place: a copy of the request would take a tenth of a `get`.
      request.handle = handle;
      const addressed = request as Request;
      // An aborted call still closes its scan.
      if (!abort || addressed.op === 'scanEnd') return this.send(addressed);
      const { call, signal } = abort;
      return signal.aborted
        ? Promise.reject(signal.reason)
        : this.send({ ...addressed, call } as Request);
    };
    return send;
  }

  /** Sends a request with the others of this microtask. */
  send(request: Request): Promise<unknown> {
    return new Promise((resolve, reject) => {
      // A running call continues during a close, which keeps the channel open if it cannot save.
      const isRunning = request.urgent || 'live' in request;
      const refusal = isRunning ? this.#refusal : this.#client.refusal(request);
      if (refusal) return reject(refusal);
      this.#queue.push({ request, resolve, reject });
      if (this.#flushing) return;
      this.#flushing = true;
      inMicrotask(() => this.flush());
    });
  }

  /** Sends the calls of this microtask now, if an engine was found. */
  flush(): void {
    this.#flushing = false;
    if (this.#queue.length === 0 || !this.#client.reaches()) return;
    const calls = this.#queue;
    this.#queue = [];
    this.#dispatch(calls);
  }

  /** Sends calls as one batch, except those that travel alone. */
  #dispatch(calls: readonly PendingCall[]): void {
    if (calls.length === 1) {
      this.#dispatchBatch(calls);
      return;
    }
    let batch: PendingCall[] = [];
    for (const call of calls) {
      if (this.#isApart(call.request)) {
        if (batch.length > 0) this.#dispatchBatch(batch);
        this.#dispatchBatch([call]);
        batch = [];
      } else batch.push(call);
    }
    if (batch.length > 0) this.#dispatchBatch(batch);
  }

  /** Whether a request travels alone. */
  #isApart(request: Request): boolean {
    const { mayHang, urgent, once, op } = request;
    if (mayHang || urgent || once || op === 'open' || isLong(request)) return true;
    // First reads need not wait for the end of an opening, nor for what does.
    if (this.#opening > 0 && isRead(request)) return true;
    // While requests wait, it must not take others past them, or along when its call is aborted.
    const isWaiting = !this.#route || this.#unsent.size > 0;
    return isWaiting && (op === 'liveNext' || 'call' in request);
  }

  /** Sends calls as one batch, on this route or the next. */
  #dispatchBatch(calls: readonly PendingCall[]): void {
    const batch = calls.map(({ request }) => request);
    const first = this.handles.number(batch);
    const isAlone = this.#all.size === 0;
    const entry: InFlight = {
      send: (route) => route.execute(batch, first),
      batch,
      first,
      settle: (reply) => settle(calls, reply),
      reject: (error) => refuse(calls, error),
      mayHang: batch[0]?.mayHang === true,
      route: undefined,
      attempts: 0,
    };
    this.#all.add(entry);
    if (batch[0]?.op === 'open') this.#opening++;
    // Fast path of the usual case.
    if (isAlone && this.#route) this.#send(entry, this.#route);
    else {
      this.#unsent.add(entry);
      this.#advance();
    }
  }

  executeSync(request: Request, engine: EngineInThread): unknown {
    if (isRead(request)) return engine.execute(request).values[0];
    const batch = [request];
    const first = this.handles.number(batch);
    const reply = engine.execute(request, first);
    // It is answered before it is secured.
    this.noteReply(batch, first, reply)?.catch(() => undefined);
    return reply.values[0];
  }

  /** Runs a command about the whole client, on this route or the next. */
  run<T>(command: (route: Route) => Promise<T>): Promise<T> {
    if (this.#refusal) return Promise.reject(this.#refusal);
    return new Promise((settle, reject) => {
      const entry: InFlight = {
        ...{ send: command, batch: [], first: [], settle, reject },
        ...{ mayHang: false, route: undefined, attempts: 0 },
      };
      this.#all.add(entry);
      this.#unsent.add(entry);
      this.#advance();
    });
  }

  /** Sends on this route from now on; retries the requests of an earlier route. */
  start(route: Route): void {
    this.#route = route;
    this.#hanging = undefined;
    this.#unsent.clear();
    for (const entry of this.#all) {
      const [request] = entry.batch;
      if (entry.route && request?.once) {
        const place = this.handles.nameOf(request.handle) ?? this.#client.name;
        this.#refuse(entry, outcomeUnknown(request, place));
      } else if (entry.attempts >= ATTEMPTS) this.#refuse(entry, tooManyAttempts(ATTEMPTS));
      else this.#unsent.add(entry);
    }
    this.#advance();
  }

  /** Sends nothing until the next {@link InFlightRequests.start}. */
  stop(): void {
    this.#route = undefined;
  }

  /** Refuses the request that made the engine hang, if one in flight may hang. */
  refuseHanging(cause: CairnError): { request: Request; error: CairnError } | undefined {
    const route = this.#route;
    if (!route) return undefined;
    const sent = [...this.#all].filter((entry) => entry.route === route);
    const culprit = sent.find(({ mayHang }) => mayHang);
    const [request] = culprit?.batch ?? [];
    if (!culprit || !request) return undefined;
    // The others are not to blame.
    for (const entry of sent) entry.attempts--;
    const error = hungError(this.handles.nameOf(request.handle), cause);
    this.#refuse(culprit, error);
    return { request, error };
  }

  /** Refuses the requests of an aborted call that no engine has got. */
  withdraw(aborted: number, reason: unknown): void {
    this.#refuseQueued(({ request }) => isOfCall(request, aborted), reason);
    for (const entry of this.#unsent) {
      const isAlone = !entry.route && entry.batch.length === 1;
      if (isAlone && isOfCall(entry.batch[0] as Request, aborted)) this.#refuse(entry, reason);
    }
    this.#advance();
  }

  /** Refuses the calls that wait for an engine, but those that open: the next call opens too. */
  refuseUnreached(error: CairnError): void {
    this.#refuseQueued(isNoOpening, error);
  }

  #refuseQueued(isRefused: (call: PendingCall) => boolean, reason: unknown): void {
    const calls = this.#queue;
    this.#queue = calls.filter((call) => !isRefused(call));
    refuse(calls.filter(isRefused), reason);
  }

  /** Refuses everything, for good. */
  refuseAll(error: CairnError): void {
    this.#refusal = error;
    refuse(this.#queue.splice(0), error);
    for (const entry of this.#all) this.#refuse(entry, error);
  }

  /** Resolves once everything in flight is answered or refused. */
  async drained(): Promise<void> {
    if (this.#all.size > 0) await new Promise<void>((resolve) => this.#drained.push(resolve));
  }

  #refuse(entry: InFlight, error: unknown): void {
    this.#remove(entry);
    entry.reject(error);
  }

  #remove(entry: InFlight): void {
    this.#all.delete(entry);
    if (entry.batch[0]?.op === 'open') this.#opening--;
    this.#unsent.delete(entry);
    if (this.#hanging === entry) this.#hanging = undefined;
    if (this.#all.size === 0) for (const resolve of this.#drained.splice(0)) resolve();
  }

  /** Sends unsent requests, up to the second one that may hang. */
  #advance(): void {
    const route = this.#route;
    if (!route) return;
    let blocked = false;
    for (const entry of this.#unsent) {
      blocked ||= entry.mayHang && this.#hanging !== undefined;
      if (!blocked || isUrgent(entry.batch)) this.#send(entry, route);
      if (this.#route !== route) return;
    }
  }

  #send(entry: InFlight, route: Route): void {
    this.#unsent.delete(entry);
    if (entry.mayHang) this.#hanging = entry;
    entry.route = route;
    entry.attempts++;
    try {
      const reply = entry.send(route);
      if (isPromise<BatchReply>(reply)) {
        reply.then(
          (late) => this.#settle(entry, route, late),
          (error: unknown) => this.#fail(entry, route, error),
        );
      } else this.#settle(entry, route, reply as BatchReply);
    } catch (error) {
      this.#fail(entry, route, error);
    }
  }

  #settle(entry: InFlight, route: Route, reply: BatchReply): void {
    if (!this.#counts(entry, route)) return;
    let secured: Promise<void> | undefined;
    if (entry.batch.length > 0) {
      if (isSuperseded(reply)) return;
      secured = this.noteReply(entry.batch, entry.first, reply);
    }
    const acknowledge = () => entry.settle(reply as never);
    this.#end(entry, secured ? () => void secured.then(acknowledge, entry.reject) : acknowledge);
  }

  #fail(entry: InFlight, route: Route, error: unknown): void {
    if (this.#counts(entry, route) && !isEngineLost(error))
      this.#end(entry, () => entry.reject(asCairnError(error)));
  }

  /** Whether a reply still counts: not one of a lost engine. */
  #counts(entry: InFlight, route: Route): boolean {
    return this.#route === route && entry.route === route && this.#all.has(entry);
  }

  #end(entry: InFlight, settleCalls: () => void): void {
    this.#remove(entry);
    settleCalls();
    if (entry.mayHang) this.#advance();
  }
}

const isNoOpening = ({ request }: PendingCall) => request.op !== 'open';

function settle(calls: readonly PendingCall[], { values, failures }: BatchReply): void {
  calls.forEach(({ resolve, reject }, index) => {
    if (failures?.has(index)) reject(failures.get(index));
    else resolve(values[index]);
  });
}

function refuse(calls: readonly PendingCall[], error: unknown): void {
  for (const { reject } of calls) reject(error);
}

/** The error of a request that may not run twice, when its engine is lost. */
function outcomeUnknown({ op }: Request, place: string): CairnError {
  const method = op === 'drop' ? 'Drop' : op;
  const lost = `The engine was replaced before it answered ${method}() of "${place}".`;
  if (op.startsWith('import')) {
    const message = `${lost} The file was imported as a whole or not at all: import it again.`;
    return new BackupError('import_lost', message, { place });
  }
  const message = `${lost} It may have been executed: check, and call it again if not.`;
  return new CollectionError('answer_lost', message, { place });
}

function tooManyAttempts(attempts: number): WorkerError {
  return new WorkerError(
    'worker_lost',
    `${attempts} engines ended while they executed this request, so it is not retried. It may have been executed.`,
  );
}

function hungError(place: string | undefined, cause: CairnError): WorkerError {
  return new WorkerError(
    'query_hung',
    'A pattern of this call or live query did not end, so the worker was restarted. Only this call failed. ' +
      'Use a pattern that cannot backtrack without end: no repetition of a repetition, as in (a+)+.',
    { place, cause },
  );
}

/** Whether the engine that replied was superseded by another leader, or has lost its database. */
function isSuperseded({ failures }: BatchReply): boolean {
  if (!failures) return false;
  for (const error of failures.values()) if (isTaken(error)) return true;
  return false;
}

/** Whether the engine is lost. The leadership reports that too, and the request is retried. */
function isEngineLost(error: unknown): boolean {
  const code = codeOf(error);
  return isTaken(error) || code === 'worker_lost' || code === 'worker_unresponsive';
}

function isTaken(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'database_taken' || code === 'database_destroyed';
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | undefined)?.code;
}
