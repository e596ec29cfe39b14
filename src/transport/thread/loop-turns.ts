import type { Clock } from '../../engine/scheduling/clock.ts';
import { nextTurn } from '../../engine/scheduling/next-turn.ts';

/** How long replies may come in microtasks alone. */
const SLICE_MS = 4;

/** Replies between two looks at the clock, where they come fast: a look takes a fiftieth of a read. */
const UNLOOKED = 8;
const FAST_MS = 0.5;

/**
 * Gives the event loop its turns. An engine in this thread replies in microtasks, so a caller that awaits one call after another would keep
 * timers, signals and the saves of the engine waiting for ever.
 */
export class LoopTurns {
  readonly #clock: Pick<Clock, 'elapsed'>;
  /** When the slice began. */
  #since = Number.NEGATIVE_INFINITY;
  /** When the clock was last looked at, and how many replies may pass until it is again. */
  #looked = 0;
  #unlooked = 0;
  /** Ends with the next turn; `undefined` while none is requested. */
  #turn: Promise<void> | undefined;
  /** Whether replies wait for it. */
  #isDue = false;

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
  }

  /**
   * Passes on a reply, behind a turn where one is due. A turn is requested a slice before: callers that leave the loop turns of their own wait
   * for none.
   */
  pass<T>(reply: T | Promise<T>): T | Promise<T> {
    if (!this.#isDue) {
      if (!this.#isSliceOver()) return reply;
      if (!this.#turn) {
        this.#since = this.#looked;
        this.#turn = this.#nextTurn();
        return reply;
      }
      this.#isDue = true;
    }
    return Promise.all([reply, this.#turn]).then(([passed]) => passed);
  }

  #isSliceOver(): boolean {
    if (this.#unlooked-- > 0) return false;
    const now = this.#clock.elapsed();
    this.#unlooked = now - this.#looked < FAST_MS ? UNLOOKED : 0;
    this.#looked = now;
    return now - this.#since >= SLICE_MS;
  }

  async #nextTurn(): Promise<void> {
    await nextTurn();
    this.#turn = undefined;
    this.#isDue = false;
    this.#since = this.#clock.elapsed();
  }
}
