import type { Clock } from '../async/clock.ts';
import { nextTurn } from '../async/next-turn.ts';
import { OptionError } from '../errors/errors.ts';

/** 1 January 2030, 12:00 UTC. */
const BEGIN = Date.UTC(2030, 0, 1, 12);

/**
 * Turns of the event loop without a call to storage, after which nothing more follows from a timer.
 */
const QUIET_TURNS = 2;

interface Timer {
  readonly due: number;
  readonly call: () => void;
}

/**
 * Time for test databases, which passes only when the test says so: saves, retries of saves, daily
 * backups, the expiry of documents and backups, and the time of stamps such as `_created_at` follow
 * it.
 *
 * It does not replace the timers of JavaScript, so it works with and without the fake timers of a
 * test runner.
 *
 * @example
 * ```ts
 * const clock = new FakeClock('2030-03-01T12:00');
 * const db = testDatabase({ clock });
 * const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED', save_timeout: 5 });
 * await orders.insert({ item: 'lamp' });
 * await clock.advance(5000);
 * db.status.unsaved; // => 0
 * ```
 */
export class FakeClock implements Clock {
  #begin: number;
  #elapsed = 0;
  #timers: Timer[] = [];
  #advancing = Promise.resolve();
  readonly #awaited = new Set<() => Promise<unknown> | undefined>();

  /**
   * @param now The time it shows first: a Date, Unix milliseconds or a date string. 1 January 2030,
   *   12:00 UTC if not given.
   * @throws {OptionError} `option_invalid` for anything that is no time.
   */
  constructor(now: Date | number | string = BEGIN) {
    this.#begin = timeOf(now);
  }

  /** The time, in Unix milliseconds. */
  now(): number {
    return this.#begin + this.#elapsed;
  }

  /** Milliseconds that have passed by {@link advance}. */
  elapsed(): number {
    return this.#elapsed;
  }

  /** Calls a function once, so many milliseconds later. @returns a function that cancels it. */
  after(ms: number, call: () => void): () => void {
    const timer = { due: this.#elapsed + Math.max(0, ms), call };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /**
   * Lets time pass. Timers that come due fire in order. Resolves when the saves and backups that
   * they begin have ended, successfully or not.
   *
   * @param ms Milliseconds: 0 for what is due now.
   * @throws {OptionError} `option_invalid` for a negative or infinite time.
   */
  advance(ms: number): Promise<void> {
    if (!(Number.isFinite(ms) && ms >= 0)) {
      const message = `clock.advance(ms) takes milliseconds from 0, not ${ms}. setTime(time) turns the clock back.`;
      throw new OptionError('option_invalid', message, { place: 'ms' });
    }
    const advancing = this.#advancing.then(() => this.#advance(ms));
    // The caller gets its failure; the next call begins nevertheless.
    this.#advancing = advancing.catch(() => undefined);
    return advancing;
  }

  /**
   * Shows another time from now on, as a user does who sets the clock of the device. No time
   * passes: timers do not fire.
   *
   * @throws {OptionError} `option_invalid` for anything that is no time.
   */
  setTime(now: Date | number | string): void {
    this.#begin = timeOf(now) - this.#elapsed;
  }

  /**
   * Makes {@link advance} wait for work that takes turns of the event loop.
   *
   * @param underWay The work under way, if any; must not reject.
   * @internal
   */
  awaitAlso(underWay: () => Promise<unknown> | undefined): void {
    this.#awaited.add(underWay);
  }

  async #advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    await this.#settle();
    for (let next = this.#next(end); next; next = this.#next(end)) {
      const { due, call } = next;
      this.#elapsed = Math.max(this.#elapsed, due);
      this.#timers = this.#timers.filter((other) => other !== next);
      call();
      await this.#settle();
    }
    this.#elapsed = end;
  }

  /** The timer that is due first, by then at the latest. */
  #next(end: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers)
      if (timer.due <= end && (!first || timer.due < first.due)) first = timer;
    return first;
  }

  async #settle(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS; ) {
      await nextTurn();
      const underWay = [...this.#awaited].flatMap((ask) => ask() ?? []);
      quiet = underWay.length > 0 ? 0 : quiet + 1;
      await Promise.all(underWay);
    }
  }
}

function timeOf(now: unknown): number {
  const isTime = now instanceof Date || typeof now === 'number' || typeof now === 'string';
  const time = isTime ? new Date(now).getTime() : Number.NaN;
  if (Number.isNaN(time)) {
    const message = `A FakeClock shows a Date, Unix milliseconds or a date string, not ${String(now)}.`;
    throw new OptionError('option_invalid', message, { place: 'now' });
  }
  return time;
}
