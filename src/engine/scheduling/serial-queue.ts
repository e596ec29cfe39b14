import { type Coroutine, isCoroutine, type Result, run } from './coroutine.ts';

/** The result of a request that is not due after all: it enters the queue again, and holds nothing until then. */
export class Postponed<T> {
  readonly result: Promise<T>;

  constructor(result: Promise<T>) {
    this.result = result;
  }
}

/**
 * Executes the requests to one collection in order. Whatever is resident is executed at once. Work that
 * changes something and has to wait keeps later requests waiting; work that only reads has taken what it
 * reads from by the time it first waits, and lets them pass.
 */
export class SerialQueue {
  /** Ends when the last request that holds the lane has ended; `undefined` while it is free. */
  #busy: Promise<unknown> | undefined;
  /** Requests that have begun and do not hold the lane. */
  readonly #passing = new Set<Promise<unknown>>();

  /** Whether a request would have to wait now. */
  get busy(): boolean {
    return this.#busy !== undefined;
  }

  /** Executes a request in its turn. `start` is called when it is due. */
  enter<T>(exclusive: boolean, start: () => Result<T> | Postponed<T>): T | Promise<T> {
    if (this.#busy) {
      // Wrapped: what resolves with a promise waits for it.
      const begun = this.#busy.then(() => ({ result: this.#begin(exclusive, start) }));
      const held = ({ result }: Awaited<typeof begun>) =>
        result instanceof Postponed ? undefined : result;
      this.#hold(exclusive ? begun.then(held) : begun);
      return begun.then(({ result }) => (result instanceof Postponed ? result.result : result));
    }
    const result = this.#begin(exclusive, start);
    if (result instanceof Postponed) return result.result;
    if (exclusive && result instanceof Promise) this.#hold(result);
    return result;
  }

  /** Resolves when what has begun has ended; to be awaited by who holds the lane, so that nothing else begins. */
  async passed(): Promise<void> {
    await Promise.allSettled(this.#passing);
  }

  #begin<T>(
    exclusive: boolean,
    start: () => Result<T> | Postponed<T>,
  ): T | Promise<T> | Postponed<T> {
    const result = perform(start);
    if (!exclusive && result instanceof Promise) {
      const end = () => void this.#passing.delete(result);
      this.#passing.add(result);
      result.then(end, end);
    }
    return result;
  }

  #hold(result: Promise<unknown>): void {
    const settled = result.then(
      () => undefined,
      () => undefined,
    );
    const busy: Promise<unknown> = settled.then(() => {
      if (this.#busy === busy) this.#busy = undefined;
    });
    this.#busy = busy;
  }
}

function perform<T>(start: () => Result<T> | Postponed<T>): T | Promise<T> | Postponed<T> {
  const result = start();
  return isCoroutine(result) ? run(result as Coroutine<T>) : (result as T | Postponed<T>);
}
