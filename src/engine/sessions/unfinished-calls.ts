import type { Request, ScanReply } from '../../protocol/requests.ts';
import type { Executor, GiveUp } from '../executor.ts';

/**
 * The calls of a session that take several requests and have not come to their end. The client may
 * leave in between: an unended scan or export keeps segments in storage for as long as the engine
 * runs, an import keeps its collection locked, an `insertMany` its documents in memory.
 */
export class UnfinishedCalls {
  /** What ends each, by its cursor or call. */
  readonly #ends = new Map<number, () => void>();
  #ended = false;
  /** Whether the client has ended; it may also have left by this session alone. */
  #isGone = false;

  /** To be called with every part of an `insertMany`, once it is sent to its collection. */
  notePart(executor: Executor, request: Request): void {
    if (request.op !== 'insertPart' && request.op !== 'insertAbandon') return;
    const { op, call, handle } = request;
    if (op === 'insertPart' && !request.last)
      this.#add(executor, call, { op: 'insertAbandon', handle, call });
    else this.#ends.delete(call);
  }

  /** To be called with every request that is not answered at once. */
  begin(executor: Executor, request: Request, answered: Promise<unknown>): void {
    const { op } = request;
    if (op !== 'importBackup' && op !== 'importAll' && op !== 'migrate') return;
    const { call } = request;
    this.#add(executor, call, { op: 'abort', handle: request.handle, call });
    const end = () => void this.#ends.delete(call);
    answered.then(end, end);
  }

  /** To be called with every request that was answered. */
  note(executor: Executor, request: Request, reply: unknown): void {
    const { handle, at } = request;
    if (at) this.#add(executor, at.reader, { op: 'viewEnd', handle, reader: at.reader });
    switch (request.op) {
      case 'scan':
      case 'scanNext': {
        if (request.op === 'scanNext') this.#ends.delete(request.cursor);
        const { cursor } = reply as ScanReply;
        if (cursor !== undefined) this.#add(executor, cursor, { op: 'scanEnd', handle, cursor });
        return;
      }
      case 'exportBackup':
      case 'diffBackups':
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
      case 'viewEnd':
        this.#ends.delete(request.reader);
        return;
    }
  }

  /**
   * @param isGone Whether the client has ended: else it goes on with an `insertMany` in another
   *   session.
   */
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
    // The session may have left while the request was executed.
    if (this.#ended) end();
    else this.#ends.set(number, end);
  }
}
