import { CairnError } from '../errors/errors.ts';
import type { Clock } from './clock.ts';
import type { Coroutine } from './coroutine.ts';
import { nextTurn } from './next-turn.ts';

/** How long a coroutine may keep the thread before it yields. */
const SLICE_MS = 10;

/** Looks at the clock once in so many calls: looking costs more than testing a document. */
const LOOK_EVERY = 256;

/** Interrupts long reads: for other requests, and for good when their call is aborted. */
export class Pace {
  readonly #clock: Clock;
  readonly #aborts: Aborts;
  #call: number | undefined;
  #steps = 0;
  #since: number;

  constructor(clock: Clock, aborts: Aborts, call?: number) {
    this.#clock = clock;
    this.#aborts = aborts;
    this.#call = call;
    this.#since = clock.elapsed();
  }

  /** Whether it is time to {@link Pace.pause}; to be called for every document. */
  get due(): boolean {
    return ++this.#steps % LOOK_EVERY === 0 && this.late;
  }

  /** The same, without the counter: to be called now and then. */
  get late(): boolean {
    return !this.#aborts.immediate && this.#clock.elapsed() - this.#since > SLICE_MS;
  }

  /** Yields to other requests. @throws {CairnError} `aborted` */
  *pause(): Coroutine<void> {
    yield nextTurn();
    this.#since = this.#clock.elapsed();
    this.check();
  }

  /**
   * Goes on for another call of the same caller. The slice goes on too: in this thread, what the
   * caller did in between blocked other requests as well.
   *
   * @throws {CairnError} `aborted`
   */
  *resume(call: number | undefined): Coroutine<void> {
    this.#call = call;
    if (this.late) yield* this.pause();
    this.check();
  }

  /** @throws {CairnError} `aborted`, when the call was aborted. */
  check(): void {
    if (this.#aborts.has(this.#call)) {
      throw new CairnError('aborted', 'The signal aborted the call.');
    }
  }
}

/** The calls under way, and which of them are aborted. */
export class Aborts {
  #immediate = false;
  readonly #calls = new Map<number, boolean>();

  /** Whether a request must be executed without waiting. */
  get immediate(): boolean {
    return this.#immediate;
  }

  /** Executes a request that must not wait. */
  atOnce<T>(execute: () => T): T {
    this.#immediate = true;
    try {
      return execute();
    } finally {
      this.#immediate = false;
    }
  }

  /** Registers a call that can be aborted, until it ends. */
  note(call: number | undefined, result: Promise<unknown>): void {
    if (call === undefined) return;
    const end = () => void this.#calls.delete(call);
    this.#calls.set(call, false);
    result.then(end, end);
  }

  /** Does nothing for a call that has ended, or goes on with another request. */
  abort(call: number): undefined {
    if (this.#calls.has(call)) this.#calls.set(call, true);
  }

  has(call: number | undefined): boolean {
    return call !== undefined && this.#calls.get(call) === true;
  }
}
