import { ThreadLocks } from '../leadership/thread-locks.ts';
import type { LockRequest, Locks } from './platform.ts';
import { navigatorObject } from './platform-object.ts';

/** Web Locks where the browser grants them; else locks among the clients of this thread. */
export class PageLocks implements Locks {
  readonly #thread = new ThreadLocks();
  #web: Locks | undefined;
  /** Whether a Web Lock was granted: a later failure is that of a page that ends. */
  #isProven = false;

  constructor(web = navigatorObject('locks') as Locks | undefined) {
    this.#web = web;
  }

  /** Whether the locks exclude other tabs, as far as is known: a frame without an origin learns by its first request. */
  get areShared(): boolean {
    return this.#web !== undefined;
  }

  async request(
    name: string,
    options: LockRequest,
    hold: (lock: unknown) => Promise<unknown> | undefined,
  ): Promise<unknown> {
    try {
      if (this.#web)
        return await this.#web.request(name, options, (lock) => {
          this.#isProven = true;
          return hold(lock);
        });
    } catch (error) {
      if (this.#isProven || (error as { name?: string }).name === 'AbortError') throw error;
      this.#web = undefined;
    }
    return this.#thread.request(name, options, hold);
  }

  async query(): ReturnType<Locks['query']> {
    return (this.#web ?? this.#thread).query();
  }
}
