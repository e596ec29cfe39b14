import type { IndexDeclaration } from '../documents/index-declarations.ts';
import type { LiveReader } from '../live/live-reader.ts';
import type { IdempotencyKey } from '../protocol/idempotency-key.ts';
import type { Request, ScanReply } from '../protocol/requests.ts';

/** What says that nobody goes on with something. */
export type GiveUp = Request<'scanEnd' | 'exportEnd' | 'abort' | 'insertAbandon'>;

/** A collection, or the whole database. */
export interface Executor {
  /** The result is a promise only if something has to be waited for. */
  execute(
    request: Request,
    reader?: LiveReader,
    origin?: IdempotencyKey,
    declaration?: IndexDeclaration,
  ): unknown;
  /** Ends what nobody goes on with, whatever became of the rest. */
  giveUp(request: GiveUp): void;
}

/**
 * What a session reads or writes part by part and has not come to its end with. A door may leave in the
 * middle: a scan or a file that nobody ends keeps segments in storage for as long as the engine runs, an
 * import keeps its collection, an `insertMany` its documents in memory.
 */
export class OpenReads {
  /** What ends each, by its cursor or call. */
  readonly #ends = new Map<number, () => void>();
  #ended = false;
  /** Whether the client is gone, and not only this way of its into the engine. */
  #isGone = false;

  /** To be called with every part of an `insertMany`, once it is asked. */
  notePart(executor: Executor, request: Request): void {
    if (request.op !== 'insertPart' && request.op !== 'insertAbandon') return;
    const { op, call, handle } = request;
    if (op === 'insertPart' && !request.last)
      this.#add(executor, call, { op: 'insertAbandon', handle, call });
    else this.#ends.delete(call);
  }

  /** To be called with every request that is not answered at once. */
  begin(executor: Executor, request: Request, answered: Promise<unknown>): void {
    if (request.op !== 'importBackup' && request.op !== 'importAll') return;
    const { call } = request;
    this.#add(executor, call, { op: 'abort', handle: request.handle, call });
    const end = () => void this.#ends.delete(call);
    answered.then(end, end);
  }

  /** To be called with every request that was answered. */
  note(executor: Executor, request: Request, reply: unknown): void {
    const { handle } = request;
    switch (request.op) {
      case 'scan':
      case 'scanNext': {
        if (request.op === 'scanNext') this.#ends.delete(request.cursor);
        const { cursor } = reply as ScanReply;
        if (cursor !== undefined) this.#add(executor, cursor, { op: 'scanEnd', handle, cursor });
        return;
      }
      case 'exportBackup':
      case 'exportAll': {
        const { cursor } = reply as { cursor: number };
        this.#add(executor, cursor, { op: 'exportEnd', handle, cursor });
        return;
      }
      case 'exportNext':
        if (reply === undefined) this.#ends.delete(request.cursor);
        return;
      case 'scanEnd':
      case 'exportEnd':
        this.#ends.delete(request.cursor);
        return;
    }
  }

  /** @param isGone Whether the client is: else it goes on with the parts of an `insertMany` by another way. */
  endAll(isGone: boolean): void {
    this.#ended = true;
    this.#isGone = isGone;
    for (const end of this.#ends.values()) end();
    this.#ends.clear();
  }

  #add(executor: Executor, number: number, request: GiveUp): void {
    const end = () => {
      if (this.#isGone || request.op !== 'insertAbandon') executor.giveUp(request);
    };
    // The session has left while this was being read.
    if (this.#ended) end();
    else this.#ends.set(number, end);
  }
}
