import { http, type Remote } from '../../src/replication/index.ts';
import type { Handler, Query } from '../../src/server/index.ts';
import type { Cluster } from '../../tools/servers/cluster.mjs';
import { Device } from '../replication/device.ts';
import { connectionsTo, cutStandby } from './connections.ts';

/** What takes the place of a server that is lost. */
export const SUCCESSORS = ['an older copy', 'a standby without the newest changes'] as const;

/** A handler over PostgreSQL, which is killed, or exchanged for another, under its clients. */
export class ReplacedServer {
  /** Whether no request arrives. */
  isCut = false;
  readonly #cluster: Cluster;
  readonly #handlerOf: (query: Query, isNew: boolean) => Promise<Handler>;
  readonly #closing: (() => Promise<unknown>)[] = [];
  #handler!: Handler;
  /** Runs each query. */
  #around: (run: () => Promise<any>) => Promise<any> = (run) => run();

  /** @param handlerOf Makes tables, too, where the server is new. */
  constructor(cluster: Cluster, handlerOf: (query: Query, isNew: boolean) => Promise<Handler>) {
    this.#cluster = cluster;
    this.#handlerOf = handlerOf;
  }

  async use({ folder }: Cluster = this.#cluster, isNew = false): Promise<void> {
    const pool = connectionsTo(folder, 'public');
    this.#closing.push(() => pool.end());
    // A test that failed may have left what kills.
    this.#around = (run) => run();
    const query: Query = (text, values) => this.#around(() => pool.query(text, values));
    this.#handler = await this.#handlerOf(query, isNew);
  }

  /** @param user Its name is sent along. */
  remote(collection: string, user = ''): Remote<string> {
    const fetch = async (url: string, init: RequestInit) => {
      if (this.isCut) throw new TypeError('no connection');
      return this.#handler(new Request(url, init));
    };
    const url = `https://example.com/${collection}`;
    return http({ url, headers: () => ({ user }), fetch: fetch as never });
  }

  /** A device without a delay that no test can wait for. */
  device(remote: Remote<string>, options: ConstructorParameters<typeof Device>[1]) {
    const device = new Device(remote, options) as Device & { orders: any };
    device.sync.on('status', ({ state }) => {
      if (state === 'offline' && !this.isCut) setTimeout(() => device.sync.resume(), 20);
    });
    return device;
  }

  /**
   * Kills the server after each of these numbers of queries, and loses each 23rd answer. @returns
   * ends that
   */
  killAfter(crashes: readonly number[]): () => Promise<{ readonly queries: number }> {
    let queries = 0;
    let up: Promise<void> = Promise.resolve();
    this.#around = async (run) => {
      await up;
      const result = run();
      if (crashes.includes(++queries)) up = this.#cluster.crash().then(() => this.#cluster.start());
      else if (queries % 23 === 0) await result.then(() => Promise.reject(new Error('lost')));
      return result;
    };
    return async () => {
      await up;
      this.#around = (run) => run();
      return { queries };
    };
  }

  /** Makes one that has what there is now. @returns puts it in the place of this one */
  async successor(which: (typeof SUCCESSORS)[number]): Promise<() => Promise<void>> {
    return which === 'an older copy' ? this.#copied() : this.#standby();
  }

  async close(): Promise<void> {
    for (const close of this.#closing.reverse()) await close();
    await this.#cluster.remove();
  }

  async #copied(): Promise<() => Promise<void>> {
    await this.#cluster.stop();
    const copy = await this.#cluster.copy();
    this.#closing.push(() => copy.remove());
    await this.#cluster.start();
    return () => this.use(copy);
  }

  /** It lacks what is committed from now on. */
  async #standby(): Promise<() => Promise<void>> {
    const standby = await this.#cluster.standby();
    this.#closing.push(() => standby.remove());
    await cutStandby(standby);
    return async () => {
      standby.run('psql', '-d', 'postgres', '-c', 'select pg_promote()');
      await this.use(standby);
    };
  }
}
