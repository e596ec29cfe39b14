import type { LiveReader } from './live/live-reader.ts';
import type { Origin } from './origin.ts';
import type { Request, ScanReply } from './protocol.ts';

/** What says that nobody goes on with something. */
export type GiveUp = Request<'scanEnd' | 'exportEnd' | 'abort'>;

/** A collection, or the whole database. */
export interface Executor {
  /** The result is a promise only if something has to be waited for. */
  execute(request: Request, reader?: LiveReader, origin?: Origin): unknown;
  /** Ends what nobody goes on with, at once and whatever became of the rest. */
  giveUp(request: GiveUp): void;
}

/**
 * What a session reads or writes part by part and has not come to its end with. A door may leave in the
 * middle: a scan or a file that nobody ends keeps segments in storage for as long as the engine runs, and an
 * import keeps its collection.
 */
export class OpenReads {
  /** What ends each, by its cursor or call. */
  readonly #ends = new Map<number, () => void>();
  #ended = false;

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

  endAll(): void {
    this.#ended = true;
    for (const end of this.#ends.values()) end();
    this.#ends.clear();
  }

  #add(executor: Executor, number: number, request: GiveUp): void {
    // The session has left while this was being read.
    if (this.#ended) executor.giveUp(request);
    else this.#ends.set(number, () => executor.giveUp(request));
  }
}
