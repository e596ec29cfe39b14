import { systemClock } from '../../async/clock.ts';

/** A turn of a call. */
export interface Turn {
  /** Resolves when the call may go on; `undefined` if it need not wait. */
  readonly begun: Promise<void> | undefined;
  /** Must be called when the call has ended. */
  readonly end: () => void;
}

/**
 * Turns of calls that would conflict with each other: one after the other, by key. They save runs,
 * no more: a call waits at most a while for the one ahead, as that may wait for this one, or never
 * end. docs/decisions/022-transactions.md has the figures.
 */
export class CallQueue {
  readonly #longestWait: number;
  readonly #queues = new Map<string, Queue>();

  /** @param longestWait For the one ahead, in milliseconds. */
  constructor(longestWait: number) {
    this.#longestWait = longestWait;
  }

  /** @param signal Ends the turn when it aborts: the function of a call may never end. */
  take(key = '', signal?: AbortSignal): Turn {
    let queue = this.#queues.get(key);
    if (!queue) {
      queue = new Queue(this.#longestWait, () => this.#queues.delete(key));
      this.#queues.set(key, queue);
    }
    const { begun, end: leave } = queue.enter();
    const end = () => {
      signal?.removeEventListener('abort', end);
      leave();
    };
    signal?.addEventListener('abort', end);
    return { begun, end };
  }
}

class Queue {
  readonly #longestWait: number;
  readonly #emptied: () => void;
  /** The first runs; each goes on when it is called. */
  readonly #calls = new Set<() => void>();
  #stopTimer: (() => void) | undefined;

  constructor(longestWait: number, emptied: () => void) {
    this.#longestWait = longestWait;
    this.#emptied = emptied;
  }

  enter(): Turn {
    let go: () => void = () => undefined;
    const begun =
      this.#calls.size === 0
        ? undefined
        : new Promise<void>((resolve) => {
            go = resolve;
          });
    this.#calls.add(go);
    if (this.#calls.size === 2) this.#watchFirst();
    return { begun, end: () => this.#leave(go) };
  }

  #leave(go: () => void): void {
    const wasFirst = go === this.#first;
    // Else it was overtaken.
    if (!this.#calls.delete(go)) return;
    // One that aborts while it waits must settle too.
    go();
    if (!wasFirst) return;
    this.#stopTimer?.();
    const next = this.#first;
    if (!next) this.#emptied();
    else {
      next();
      this.#watchFirst();
    }
  }

  /** Overtakes the first, if it has not ended after a while. */
  #watchFirst(): void {
    const first = this.#first;
    if (!first || this.#calls.size < 2) return;
    this.#stopTimer = systemClock.after(this.#longestWait, () => this.#leave(first));
  }

  get #first(): (() => void) | undefined {
    const [first] = this.#calls;
    return first;
  }
}
