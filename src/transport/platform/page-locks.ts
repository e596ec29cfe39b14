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

  request(
    name: string,
    options: LockRequest,
    hold: (lock: unknown) => Promise<unknown> | undefined,
  ): Promise<unknown> {
    const web = this.#web;
    if (!web) return this.#thread.request(name, options, hold);
    const granted = (lock: unknown) => {
      this.#isProven = true;
      return hold(lock);
    };
    // No async function: its turns after a lock run in the back/forward cache, and Chromium evicts the page for them.
    return ask(web, name, options, granted).catch((error: { name?: string }) => {
      if (this.#isProven || error.name === 'AbortError') throw error;
      this.#web = undefined;
      return this.#thread.request(name, options, hold);
    });
  }

  async query(): ReturnType<Locks['query']> {
    return (this.#web ?? this.#thread).query();
  }
}

/** Rejects where the browser throws. */
function ask(web: Locks, ...request: Parameters<Locks['request']>): Promise<unknown> {
  try {
    return web.request(...request);
  } catch (error) {
    return Promise.reject(error);
  }
}
