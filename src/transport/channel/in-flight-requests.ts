import type { FirstSequenceNumbers } from '../../engine/protocol/idempotency-key.ts';
import type { BatchReply, Request } from '../../engine/protocol/requests.ts';
import { BackupError } from '../../errors/backup-error.ts';
import type { CairnError } from '../../errors/cairn-error.ts';
import { CollectionError } from '../../errors/collection-error.ts';
import { WorkerError } from '../../errors/worker-error.ts';
import { numbered } from './change-numbers.ts';
import type { Route } from './route.ts';

/** How often something is asked again. What ends every engine must not go on for ever. */
const ATTEMPTS = 4;

/** Something that was asked and is not answered. */
interface InFlightRequest {
  readonly send: (route: Route) => unknown;
  /** What it asks of collections, if anything. */
  readonly batch: readonly Request[];
  readonly first: FirstSequenceNumbers;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  /** Whether it may never come to its end. */
  readonly mayHang: boolean;
  /** The route that it was sent on. */
  route: Route | undefined;
  attempts: number;
}

/**
 * What a client has asked and is not answered. It is asked again of the next engine when one is gone.
 *
 * A request whose pattern hangs ends the worker, which nothing else can stop. So that it is known which one it
 * was, only one that may hang is under way at a time; what was asked after it keeps its place behind it.
 */
export class InFlightRequests {
  readonly #answered: (
    batch: readonly Request[],
    first: FirstSequenceNumbers,
    reply: BatchReply,
  ) => Promise<void> | undefined;
  readonly #placeOf: (request: Request) => string;
  /** In the order they were asked in. */
  readonly #asked = new Set<InFlightRequest>();
  /** Those of them that are not sent on the present route yet. */
  readonly #waiting = new Set<InFlightRequest>();
  /** The one that may hang and is under way. */
  #hanging: InFlightRequest | undefined;
  #route: Route | undefined;

  /**
   * @param answered Called with each batch that is answered, before the caller is answered; the caller waits for the
   *   promise, if there is one.
   * @param placeOf What a request is about, for errors: a collection, or the database.
   */
  constructor(
    answered: (
      batch: readonly Request[],
      first: FirstSequenceNumbers,
      reply: BatchReply,
    ) => Promise<void> | undefined,
    placeOf: (request: Request) => string,
  ) {
    this.#answered = answered;
    this.#placeOf = placeOf;
  }

  get size(): number {
    return this.#asked.size;
  }

  /** The changes that are not answered, with their numbers. */
  *changes(): Generator<readonly [request: Request, place: number, number: number]> {
    for (const { batch, first } of this.#asked) yield* numbered(batch, first);
  }

  /** Asks on the present route, or on the next. */
  ask<T>(
    send: (route: Route) => T | Promise<T>,
    batch: readonly Request[] = [],
    first: FirstSequenceNumbers = [],
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const mayHang = batch[0]?.mayHang === true;
      const asked: InFlightRequest = {
        ...{ send, batch, first, resolve, reject, mayHang },
        route: undefined,
        attempts: 0,
      };
      this.#asked.add(asked);
      this.#waiting.add(asked);
      this.#advance();
    });
  }

  /** From now on it is asked here; what was asked elsewhere is asked again. */
  start(route: Route): void {
    this.#route = route;
    this.#hanging = undefined;
    this.#waiting.clear();
    for (const asked of this.#asked) {
      const [request] = asked.batch;
      if (asked.route && request?.once)
        this.#refuse(asked, outcomeUnknown(request, this.#placeOf(request)));
      else if (asked.attempts >= ATTEMPTS) this.#refuse(asked, tooOften());
      else this.#waiting.add(asked);
    }
    this.#advance();
  }

  /** There is no route for now. */
  stop(): void {
    this.#route = undefined;
  }

  /**
   * Rejects the request that an engine was lost over, if it was one that may hang.
   *
   * @returns the request.
   */
  accuse(error: (request: Request) => CairnError): Request | undefined {
    const route = this.#route;
    // An engine that was lost before it was asked anything here was lost over something else.
    if (!route) return undefined;
    const underWay = [...this.#asked].filter((asked) => asked.route === route);
    const culprit = underWay.find(({ mayHang }) => mayHang);
    const [request] = culprit?.batch ?? [];
    if (!culprit || !request) return undefined;
    // The others had no part in it.
    for (const asked of underWay) asked.attempts--;
    this.#refuse(culprit, error(request));
    return request;
  }

  rejectAll(error: CairnError): void {
    for (const asked of this.#asked) this.#refuse(asked, error);
  }

  #refuse(asked: InFlightRequest, error: CairnError): void {
    this.#forget(asked);
    asked.reject(error);
  }

  #forget(asked: InFlightRequest): void {
    this.#asked.delete(asked);
    this.#waiting.delete(asked);
    if (this.#hanging === asked) this.#hanging = undefined;
  }

  /** Sends what waits, up to the second that may hang. */
  #advance(): void {
    const route = this.#route;
    if (!route) return;
    let blocked = false;
    for (const asked of this.#waiting) {
      blocked ||= asked.mayHang && this.#hanging !== undefined;
      // What others wait for must not wait behind them.
      if (!blocked || asked.batch[0]?.urgent) this.#send(asked, route);
      if (this.#route !== route) return;
    }
  }

  #send(asked: InFlightRequest, route: Route): void {
    this.#waiting.delete(asked);
    if (asked.mayHang) this.#hanging = asked;
    asked.route = route;
    asked.attempts++;
    // An engine that answers too late is one whose answers do not count any more.
    const counts = () => this.#route === route && asked.route === route && this.#asked.has(asked);
    const end = (tell: () => void) => {
      this.#forget(asked);
      tell();
      if (asked.mayHang) this.#advance();
    };
    const settle = (reply: unknown) => {
      if (!counts()) return;
      let saved: Promise<void> | undefined;
      if (asked.batch.length > 0) {
        if (isTaken(reply as BatchReply)) return;
        saved = this.#answered(asked.batch, asked.first, reply as BatchReply);
      }
      end(() => asked.resolve((saved ? saved.then(() => reply) : reply) as never));
    };
    const fail = (error: unknown) => {
      if (counts() && !isEnd(error)) end(() => asked.reject(error));
    };
    try {
      const reply = asked.send(route);
      if (reply instanceof Promise) reply.then(settle, fail);
      else settle(reply);
    } catch (error) {
      fail(error);
    }
  }
}

/** Whether an engine has answered whose answers do not count any more: another has taken over. */
export function isTaken({ failures }: BatchReply): boolean {
  if (!failures) return false;
  for (const error of failures.values()) if (codeOf(error) === 'database_taken') return true;
  return false;
}

/** Whether the engine is gone, which is told by other ways too: then it is asked again. */
function isEnd(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'database_taken' || code === 'worker_lost' || code === 'worker_unresponsive';
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | undefined)?.code;
}

function outcomeUnknown({ op }: Request, place: string): CairnError {
  const method = op === 'drop' ? 'Drop' : op;
  const lost = `The engine was replaced before it answered ${method}() of "${place}".`;
  if (op.startsWith('import')) {
    const message = `${lost} All of the file was imported, or nothing: import it again.`;
    return new BackupError('import_lost', message, { place });
  }
  const message = `${lost} It may have been done: look, and call it again if not.`;
  return new CollectionError('answer_lost', message, { place });
}

function tooOften(): WorkerError {
  return new WorkerError(
    'worker_lost',
    `${ATTEMPTS} engines ended while this was being asked, so it is not asked again. It may have been done.`,
  );
}
