import type { LockRequest, Locks } from '../platform/platform.ts';

interface Waiting {
  readonly grant: () => void;
}

interface Held {
  /** Rejects the holder's request. */
  readonly steal: () => void;
}

/**
 * Locks among the clients of one thread, where there are no Web Locks: in Node before version 24, in pages on `http://`,
 * and in tests.
 */
export class ThreadLocks implements Locks {
  readonly #held = new Map<string, Held>();
  readonly #queues = new Map<string, Waiting[]>();

  request(
    name: string,
    { signal, ifAvailable, steal }: LockRequest,
    hold: (lock: unknown) => Promise<unknown> | undefined,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const grant = () => {
        const held: Held = { steal: () => reject(aborted('The lock was stolen.')) };
        this.#held.set(name, held);
        Promise.resolve(hold({ name }))
          .then(resolve, reject)
          .finally(() => {
            if (this.#held.get(name) === held) this.#free(name);
          });
      };
      if (steal) {
        this.#held.get(name)?.steal();
        this.#held.delete(name);
        return grant();
      }
      if (!this.#held.has(name)) return grant();
      if (ifAvailable) {
        Promise.resolve(hold(null)).then(resolve, reject);
        return;
      }
      const waiting = { grant };
      const queue = this.#queues.get(name) ?? [];
      this.#queues.set(name, queue);
      queue.push(waiting);
      signal?.addEventListener('abort', () => {
        const at = queue.indexOf(waiting);
        if (at < 0) return;
        queue.splice(at, 1);
        reject(aborted('The request was aborted.'));
      });
    });
  }

  async query(): Promise<{ held: { name: string }[] }> {
    return { held: Array.from(this.#held.keys(), (name) => ({ name })) };
  }

  #free(name: string): void {
    this.#held.delete(name);
    const next = this.#queues.get(name)?.shift();
    if (next) next.grant();
    else this.#queues.delete(name);
  }
}

function aborted(message: string): Error {
  return Object.assign(new Error(message), { name: 'AbortError' });
}
