import { isPromise } from '../codec/kinds.ts';
import { type Result, run } from './coroutine.ts';
import { Mutex } from './mutex.ts';

/**
 * The result of a request that is not due after all: it enters the queue again later, and does not
 * hold it meanwhile.
 */
export class Postponed<T> {
  readonly result: Promise<T>;

  constructor(result: Promise<T>) {
    this.result = result;
  }
}

/**
 * Executes the requests to one collection in order, those on resident data at once. A request that
 * changes something and has to wait holds the queue; a read has captured its source by the time it
 * first waits, and lets later requests pass.
 */
export class SerialQueue {
  /** Held by the requests that hold the queue. */
  readonly #turn = new Mutex();
  /** Requests that have begun and do not hold the queue. */
  passing: Set<Promise<unknown>> | undefined;

  /** Whether a request has entered that changes the collection. */
  hasChanges = false;

  /** What a request would have to wait for now. */
  get busy(): Promise<void> | undefined {
    return this.#turn.held;
  }

  /** Executes a request in its turn. `start` is called when it is due. */
  enter<T>(exclusive: boolean, start: () => Result<T> | Postponed<T>): T | Promise<T> {
    const { busy } = this;
    if (busy) {
      // Wrapped: what resolves with a promise waits for it.
      const begun = busy.then(() => ({ result: this.#begin(exclusive, start) }));
      const held = ({ result }: Awaited<typeof begun>) =>
        result instanceof Postponed ? undefined : result;
      this.#turn.hold(exclusive ? begun.then(held) : begun);
      return begun.then(({ result }) => (result instanceof Postponed ? result.result : result));
    }
    const result = this.#begin(exclusive, start);
    if (result instanceof Postponed) return result.result;
    if (exclusive && isPromise(result)) this.#turn.hold(result);
    return result;
  }

  #begin<T>(
    exclusive: boolean,
    start: () => Result<T> | Postponed<T>,
  ): T | Promise<T> | Postponed<T> {
    const result = run(start()) as T | Promise<T> | Postponed<T>;
    if (!exclusive && isPromise(result)) {
      this.passing ??= new Set();
      const passing = this.passing;
      const end = () => void passing.delete(result);
      passing.add(result);
      result.then(end, end);
    }
    return result;
  }
}
