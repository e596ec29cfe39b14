import type { RemoteFetch } from '../../../src/replication/index.ts';

/** The network between a device and a server, which can fail. */
export class Network {
  /** Requests that reached it, as method and path. */
  readonly requests: string[] = [];
  isOffline = false;
  /** Decides whether the answer to a request is lost after it took effect. */
  loses: (url: string) => boolean = () => false;
  readonly #server: RemoteFetch;

  constructor(server: RemoteFetch) {
    this.#server = server;
  }

  readonly fetch: RemoteFetch = async (url, init) => {
    this.requests.push(`${init.method} ${new URL(url).pathname}`);
    if (this.isOffline) throw new TypeError('fetch failed');
    const response = await this.#server(url, init);
    if (!this.loses(url)) return response;
    // The connection breaks before the answer: what comes next finds no network either.
    this.isOffline = true;
    await response.body?.cancel();
    throw new TypeError('fetch failed');
  };
}
