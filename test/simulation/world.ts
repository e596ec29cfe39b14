import { Random } from '../setup/random.ts';

/** Something that happens at a time, to somebody. */
interface Event {
  due: number;
  readonly order: number;
  readonly owner: Owner | undefined;
  readonly call: () => void;
}

/** A tab, or another owner of events. */
export interface Owner {
  /** Nothing happens to it any more. */
  readonly dead: boolean;
  /** It ends as a page does that is told: what it has begun to write is written. */
  readonly closing: boolean;
  /** Nothing happens to it until then, in milliseconds. */
  readonly frozenUntil: number;
}

/**
 * Time, and what happens in it, for several tabs in one thread. The same seed gives the same run.
 */
export class World {
  readonly random: Random;
  #now = 0;
  #orders = 0;
  #events: Event[] = [];

  constructor(seed: number) {
    this.random = new Random(seed);
  }

  /** Milliseconds since the beginning. */
  get now(): number {
    return this.#now;
  }

  /** Lets something happen later. Returns the function that prevents it. */
  after(ms: number, owner: Owner | undefined, call: () => void): () => void {
    const event = { due: this.#now + ms, order: this.#orders++, owner, call };
    this.#insert(event);
    return () => {
      const at = this.#events.indexOf(event);
      if (at >= 0) this.#events.splice(at, 1);
    };
  }

  /** Lets a tab do something, as far as it is not frozen; `open` counts what has not ended. */
  act(
    client: { readonly tab: Owner; open: number },
    call: () => Promise<unknown>,
    failed: (error: unknown) => void,
  ): void {
    this.after(0, client.tab, () => {
      client.open++;
      call()
        .catch(failed)
        .finally(() => {
          client.open--;
        });
    });
  }

  /**
   * What a promise brings, for which so many milliseconds go by.
   *
   * @throws {Error} if it has not settled by then.
   */
  async hear<T>(asked: Promise<T>, ms = 1000): Promise<T> {
    const end = this.#now + ms;
    const passed = this.runUntil(end);
    const late = passed.then(() => {
      throw new Error(`No answer after ${ms} simulated milliseconds, at ${end}.`);
    });
    const [answer] = await Promise.all([Promise.race([asked, late]), passed]);
    return answer;
  }

  /**
   * The same, of a call that waits for turns of the event loop, which take no time here: indexes
   * are built in them.
   *
   * @throws {Error} if it has not settled after 20 seconds.
   */
  async hearInTurns<T>(asked: Promise<T>): Promise<T> {
    let isDone = false;
    const done = () => {
      isDone = true;
    };
    asked.then(done, done);
    for (let turn = 0; turn < 1000 && !isDone; turn++)
      await this.runUntil(this.#now + 20, () => isDone);
    if (!isDone) throw new Error(`No answer in 1000 turns, at ${this.#now}.`);
    return asked;
  }

  /**
   * Lets time go by until then, with all that happens.
   *
   * @param enough Asked after each thing that happens; time stops where it says so.
   */
  async runUntil(end: number, enough = () => false): Promise<void> {
    await settled();
    while (!enough()) {
      const event = this.#events[0];
      if (!event || event.due > end) {
        this.#now = end;
        return;
      }
      this.#events.shift();
      this.#now = Math.max(this.#now, event.due);
      const { owner } = event;
      if (owner?.dead) continue;
      if (owner && owner.frozenUntil > this.#now) {
        // The same event: it can still be prevented.
        event.due = owner.frozenUntil;
        this.#insert(event);
        continue;
      }
      event.call();
      await settled();
    }
  }

  #insert(event: Event): void {
    let at = this.#events.length;
    while (at > 0 && isLater(this.#events[at - 1] as Event, event)) at--;
    this.#events.splice(at, 0, event);
  }
}

function isLater(a: Event, b: Event): boolean {
  return a.due > b.due || (a.due === b.due && a.order > b.order);
}

/** Resolves when everything that waits for nothing but other promises has happened. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
