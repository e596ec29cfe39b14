import type { RemoteFetch } from '../../../src/replication/index.ts';

/** The network between one client and a server. */
export class FlakyNetwork {
  /** The answers to so many of the next pushes are lost after they took effect. */
  losing = 0;
  /** So many of the next requests arrive twice, and the second answer is the one that comes. */
  doubling = 0;
  readonly #server: RemoteFetch;
  #line = new AbortController();

  constructor(server: RemoteFetch) {
    this.#server = server;
  }

  get isCut(): boolean {
    return this.#line.signal.aborted;
  }

  /** Ends all requests under way, whether or not they have taken effect. */
  cut(): void {
    this.#line.abort(new TypeError('the network is gone'));
  }

  heal(): void {
    if (this.isCut) this.#line = new AbortController();
    this.losing = 0;
    this.doubling = 0;
  }

  readonly fetch: RemoteFetch = async (url, init) => {
    const line = this.#line.signal;
    line.throwIfAborted();
    const signal = init.signal ? AbortSignal.any([init.signal, line]) : line;
    const isPush = /\/(push|_bulk_docs)$/.test(new URL(url).pathname);
    if (isPush && this.doubling > 0) {
      this.doubling -= 1;
      await (await this.#server(url, { ...init, signal })).text();
    }
    const response = await this.#server(url, { ...init, signal });
    if (!isPush || this.losing === 0) return response;
    this.losing -= 1;
    await response.body?.cancel();
    throw new TypeError('the answer was lost');
  };
}
