import type { LockRequest, Locks } from '../../src/platform/platform.ts';
import type { Owner, World } from './world.ts';

interface Asked {
  readonly owner: Owner;
  readonly grant: () => void;
}

interface Held {
  readonly owner: Owner;
  readonly rob: () => void;
}

/** The locks of a browser, for all its tabs. */
export class SimLocks {
  readonly #world: World;
  readonly #held = new Map<string, Held>();
  readonly #queues = new Map<string, Asked[]>();

  constructor(world: World) {
    this.#world = world;
  }

  /** The locks as one tab sees them. */
  of(owner: Owner): Locks {
    return {
      request: (name, options, hold) => this.#request(owner, name, options, hold),
      query: () => this.#query(owner),
    };
  }

  /** The locks of a tab that is gone become free. */
  async free(owner: Owner): Promise<void> {
    for (const queue of this.#queues.values()) {
      queue.splice(0, queue.length, ...queue.filter((asked) => asked.owner !== owner));
    }
    for (const [name, held] of [...this.#held]) if (held.owner === owner) this.#release(name);
  }

  #request(
    owner: Owner,
    name: string,
    { signal, ifAvailable, steal }: LockRequest,
    hold: (lock: unknown) => Promise<unknown> | undefined,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const later = (call: () => void) =>
        this.#world.after(this.#world.random.between(0, 2), owner, call);
      const grant = () => {
        const held: Held = { owner, rob: () => later(() => reject(aborted('stolen'))) };
        this.#held.set(name, held);
        const release = () => {
          if (this.#held.get(name) === held) this.#release(name);
        };
        later(() => {
          Promise.resolve(hold({ name })).then(resolve, reject).finally(release);
        });
      };
      later(() => {
        if (signal?.aborted) return reject(aborted('aborted'));
        const holder = this.#held.get(name);
        if (steal && holder) {
          this.#held.delete(name);
          holder.rob();
          grant();
        } else if (!holder) grant();
        else if (ifAvailable) later(() => Promise.resolve(hold(null)).then(resolve, reject));
        else this.#queue(owner, name, grant, signal, () => reject(aborted('aborted')));
      });
    });
  }

  #queue(
    owner: Owner,
    name: string,
    grant: () => void,
    signal: AbortSignal | undefined,
    refuse: () => void,
  ): void {
    const asked = { owner, grant };
    const queue = this.#queues.get(name) ?? [];
    this.#queues.set(name, queue);
    queue.push(asked);
    signal?.addEventListener('abort', () => {
      const at = queue.indexOf(asked);
      if (at < 0) return;
      queue.splice(at, 1);
      refuse();
    });
  }

  #release(name: string): void {
    this.#held.delete(name);
    this.#queues.get(name)?.shift()?.grant();
  }

  #query(owner: Owner): Promise<{ held: { name: string }[] }> {
    return new Promise((resolve) => {
      this.#world.after(this.#world.random.between(0, 2), owner, () => {
        const held = Array.from(this.#held.keys(), (name) => ({ name }));
        this.#world.after(this.#world.random.between(0, 2), owner, () => resolve({ held }));
      });
    });
  }
}

function aborted(why: string): Error {
  return Object.assign(new Error(`The request was ${why}.`), { name: 'AbortError' });
}
