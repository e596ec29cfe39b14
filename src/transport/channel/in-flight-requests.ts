import type { FirstSequenceNumbers } from '../../engine/protocol/idempotency-key.ts';
import type { BatchReply, Request } from '../../engine/protocol/requests.ts';
import { asCairnError } from '../../errors/as-cairn-error.ts';
import { BackupError } from '../../errors/backup-error.ts';
import type { CairnError } from '../../errors/cairn-error.ts';
import { CollectionError } from '../../errors/collection-error.ts';
import { WorkerError } from '../../errors/worker-error.ts';
import { numberedChanges, type OpenHandles } from './open-handles.ts';
import type { Route } from './route.ts';

/** A request that ends every engine must not be retried for ever. */
const ATTEMPTS = 4;

/** A request with its caller's promise. */
export interface PendingCall {
  readonly request: Request;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Is called with each reply, before the callers get it.
 *
 * @returns resolves when the changes in the batch may be acknowledged; `undefined` where that is now.
 */
type NoteReply = (
  batch: readonly Request[],
  first: FirstSequenceNumbers,
  reply: BatchReply,
) => Promise<void> | undefined;

interface InFlight {
  readonly send: (route: Route) => unknown;
  /** Its requests; none for a command about the whole client. */
  readonly batch: readonly Request[];
  readonly first: FirstSequenceNumbers;
  readonly settle: (reply: never) => void;
  readonly reject: (error: CairnError) => void;
  readonly mayHang: boolean;
  /** The route it was sent on. */
  route: Route | undefined;
  attempts: number;
}

/**
 * What a client has sent and no engine has answered. When the engine is lost, the next one gets all of it again;
 * sequence numbers keep changes from being applied twice.
 *
 * A pattern that hangs ends its worker; nothing else can stop it. At most one request that may hang is in flight, so
 * that it is known which one hung; requests behind it keep their order.
 */
export class InFlightRequests {
  readonly #handles: OpenHandles;
  readonly #database: string;
  readonly #noteReply: NoteReply;
  /** In the order of the calls. */
  readonly #all = new Set<InFlight>();
  /** Those not sent on the present route yet. */
  readonly #unsent = new Set<InFlight>();
  /** The one in flight that may hang. */
  #hanging: InFlight | undefined;
  #route: Route | undefined;
  /** Called once all are answered. */
  #drained: (() => void)[] = [];

  constructor(database: string, handles: OpenHandles, noteReply: NoteReply) {
    this.#database = database;
    this.#handles = handles;
    this.#noteReply = noteReply;
  }

  /** The changes that are not answered, with their sequence numbers. */
  *changes(): Generator<readonly [request: Request, index: number, number: number]> {
    for (const { batch, first } of this.#all) yield* numberedChanges(batch, first);
  }

  /** Sends calls as one batch, on this route or the next. */
  dispatch(calls: readonly PendingCall[]): void {
    const batch = calls.map(({ request }) => request);
    const first = this.#handles.number(batch);
    const isAlone = this.#all.size === 0;
    const entry = this.#add({
      send: (route) => route.execute(batch, first),
      batch,
      first,
      settle: (reply) => settle(calls, reply),
      reject: (error) => refuse(calls, error),
      mayHang: batch[0]?.mayHang === true,
    });
    // The usual case needs no look at the others.
    if (isAlone && this.#route) this.#send(entry, this.#route);
    else this.#advance();
  }

  /** Executes a request at once; only on a route to an engine in this thread. */
  executeSync(request: Request, execute: NonNullable<Route['executeSync']>): unknown {
    const batch = [request];
    const first = this.#handles.number(batch);
    const reply = execute(request, first);
    this.#noteReply(batch, first, reply);
    return reply.values[0];
  }

  /** Runs a command about the whole client, on this route or the next. */
  run<T>(command: (route: Route) => Promise<T>): Promise<T> {
    return new Promise((settle, reject) => {
      this.#add({ send: command, batch: [], first: [], settle, reject, mayHang: false });
      this.#advance();
    });
  }

  /** Sends everything on this route from now on; what another route left unanswered is retried. */
  start(route: Route): void {
    this.#route = route;
    this.#hanging = undefined;
    this.#unsent.clear();
    for (const entry of this.#all) {
      const [request] = entry.batch;
      if (entry.route && request?.once) this.#refuse(entry, this.#outcomeUnknown(request));
      else if (entry.attempts >= ATTEMPTS) this.#refuse(entry, tooManyAttempts());
      else this.#unsent.add(entry);
    }
    this.#advance();
  }

  /** There is no route for now. */
  stop(): void {
    this.#route = undefined;
  }

  /** Refuses the request over which an engine was lost, if it was one that may hang, and returns it. */
  refuseHanging(error: (request: Request) => CairnError): Request | undefined {
    const route = this.#route;
    if (!route) return undefined;
    const sent = [...this.#all].filter((entry) => entry.route === route);
    const culprit = sent.find(({ mayHang }) => mayHang);
    const [request] = culprit?.batch ?? [];
    if (!culprit || !request) return undefined;
    // The loss says nothing about the others.
    for (const entry of sent) entry.attempts--;
    this.#refuse(culprit, error(request));
    return request;
  }

  refuseAll(error: CairnError): void {
    for (const entry of this.#all) this.#refuse(entry, error);
  }

  /** Resolves once everything in flight is answered or refused. */
  async drained(): Promise<void> {
    if (this.#all.size > 0) await new Promise<void>((resolve) => this.#drained.push(resolve));
  }

  #add(entry: Omit<InFlight, 'route' | 'attempts'>): InFlight {
    const added: InFlight = { ...entry, route: undefined, attempts: 0 };
    this.#all.add(added);
    this.#unsent.add(added);
    return added;
  }

  #refuse(entry: InFlight, error: CairnError): void {
    this.#remove(entry);
    entry.reject(error);
  }

  #remove(entry: InFlight): void {
    this.#all.delete(entry);
    this.#unsent.delete(entry);
    if (this.#hanging === entry) this.#hanging = undefined;
    if (this.#all.size === 0) for (const resolve of this.#drained.splice(0)) resolve();
  }

  /** Sends what is unsent, up to the second request that may hang. */
  #advance(): void {
    const route = this.#route;
    if (!route) return;
    let blocked = false;
    for (const entry of this.#unsent) {
      blocked ||= entry.mayHang && this.#hanging !== undefined;
      // An urgent request concerns a call that has begun, and must not wait behind others.
      if (!blocked || entry.batch[0]?.urgent) this.#send(entry, route);
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
      if (reply instanceof Promise) {
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
      secured = this.#noteReply(entry.batch, entry.first, reply);
    }
    const acknowledge = () => entry.settle(reply as never);
    this.#end(entry, secured ? () => void secured.then(acknowledge) : acknowledge);
  }

  #fail(entry: InFlight, route: Route, error: unknown): void {
    if (this.#counts(entry, route) && !isEngineLost(error))
      this.#end(entry, () => entry.reject(asCairnError(error)));
  }

  /** Whether an answer still counts: one of a lost engine does not. */
  #counts(entry: InFlight, route: Route): boolean {
    return this.#route === route && entry.route === route && this.#all.has(entry);
  }

  #end(entry: InFlight, settleCalls: () => void): void {
    this.#remove(entry);
    settleCalls();
    if (entry.mayHang) this.#advance();
  }

  #outcomeUnknown(request: Request): CairnError {
    const { op } = request;
    const place = this.#handles.nameOf(request) ?? this.#database;
    const method = op === 'drop' ? 'Drop' : op;
    const lost = `The engine was replaced before it answered ${method}() of "${place}".`;
    if (op.startsWith('import')) {
      const message = `${lost} All of the file was imported, or nothing: import it again.`;
      return new BackupError('import_lost', message, { place });
    }
    const message = `${lost} It may have been done: look, and call it again if not.`;
    return new CollectionError('answer_lost', message, { place });
  }
}

function settle(calls: readonly PendingCall[], { values, failures }: BatchReply): void {
  calls.forEach(({ resolve, reject }, index) => {
    if (failures?.has(index)) reject(failures.get(index));
    else resolve(values[index]);
  });
}

export function refuse(calls: readonly PendingCall[], error: CairnError): void {
  for (const { reject } of calls) reject(error);
}

/** Whether the reply comes from an engine that another leader has superseded. */
function isSuperseded({ failures }: BatchReply): boolean {
  if (!failures) return false;
  for (const error of failures.values()) if (codeOf(error) === 'database_taken') return true;
  return false;
}

/** Whether the engine is gone, which its leadership reports too: then the request is retried. */
function isEngineLost(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'database_taken' || code === 'worker_lost' || code === 'worker_unresponsive';
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | undefined)?.code;
}

function tooManyAttempts(): WorkerError {
  return new WorkerError(
    'worker_lost',
    `${ATTEMPTS} engines ended while they executed this request, so it is not retried. It may have been done.`,
  );
}
