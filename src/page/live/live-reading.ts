import type { LiveSnapshot, Readable, WatchHandlers } from '../../api/live-options.ts';
import { callSafely } from '../../async/emitter.ts';

type Ready<T> = LiveSnapshot<T> & { status: 'ready' };

export function firstReady<T>(query: Readable<T>): Promise<Ready<T>> {
  return new Promise((resolve, reject) => {
    const look = (snapshot: LiveSnapshot<T>): void => {
      if (snapshot.status === 'pending') return;
      stop();
      if (snapshot.status === 'error') reject(snapshot.error);
      else resolve(snapshot);
    };
    const stop = query.subscribe(look);
    look(query.getSnapshot());
  });
}

/**
 * Calls handlers with the differences of a result. Exits first: what was entered and has not left
 * is never more than `limit`.
 */
export function watchResult<T extends { readonly _id: string }>(
  query: Readable<readonly T[]>,
  { enter, update, exit, error: fail }: WatchHandlers<T>,
): void {
  let before: ReadonlyMap<string, T> | undefined;
  let isOver = false;
  const call = (handler: (() => void) | undefined) => {
    if (handler && !isOver) callSafely(handler, undefined);
  };
  query.subscribe(({ status, data, error }) => {
    if (status === 'error') {
      // `closed` is an ordinary end.
      if ((error as { code?: unknown }).code !== 'closed') call(() => (fail ?? raise)(error));
      isOver = true;
    }
    if (status !== 'ready') return;
    const known = before;
    const after = new Map(data.map((document) => [document._id, document]));
    before = after;
    if (exit && known)
      for (const [id, document] of known) if (!after.has(id)) call(() => exit(document));
    for (const [id, document] of after) {
      const old = known?.get(id);
      if (!old) call(enter && (() => enter(document, !known)));
      else if (old !== document) call(update && (() => update(document, old)));
    }
  });
}

function raise(error: Error): never {
  throw error;
}

interface Waiting<T> {
  readonly resolve: (result: IteratorResult<T, undefined>) => void;
  readonly reject: (error: Error) => void;
}

/** One loop over a live query: a slow one skips results and gets the newest. */
export class LiveIteration<T> {
  readonly #query: Readable<T>;
  /** Pending calls of `next()`. */
  readonly #waiting: Waiting<T>[] = [];
  /** The newest snapshot, until the loop has it. */
  #unseen: LiveSnapshot<T> | undefined;
  #unsubscribe: (() => void) | undefined;
  #done = false;

  constructor(query: Readable<T>) {
    this.#query = query;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      if (!this.#unsubscribe) {
        this.#unsubscribe = this.#query.subscribe((snapshot) => {
          this.#unseen = snapshot;
          this.#serve();
        });
        this.#unseen = this.#query.getSnapshot();
      }
      this.#serve();
    });
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.#end();
    return { done: true, value: undefined };
  }

  #serve(): void {
    const snapshot = this.#unseen;
    if (this.#done) this.#end();
    if (!snapshot || snapshot.status === 'pending') {
      this.#unseen = undefined;
      return;
    }
    const next = this.#waiting.shift();
    if (!next) return;
    this.#unseen = undefined;
    if (snapshot.status === 'ready') next.resolve({ done: false, value: snapshot.data });
    else {
      // `closed` is an ordinary end.
      if ((snapshot.error as { code?: unknown }).code !== 'closed') next.reject(snapshot.error);
      else next.resolve({ done: true, value: undefined });
      this.#end();
    }
  }

  #end(): void {
    this.#done = true;
    this.#unsubscribe?.();
    for (const { resolve } of this.#waiting.splice(0)) resolve({ done: true, value: undefined });
  }
}
