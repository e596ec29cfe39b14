import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Pool } from 'pg';
import { decodeDocument } from '../../../src/codec/exact-json/wire-documents.ts';
import { http, type Remote, type RemoteFetch } from '../../../src/replication/index.ts';
import {
  createHandler,
  type Handler,
  nodeListener,
  type PostgresStore,
  postgres,
  type Query,
} from '../../../src/server/index.ts';
import { type Cluster, startCluster } from '../../../tools/servers/cluster.mjs';
import { connectionsTo, cutStandby, listenTo } from '../connections.ts';
import type { Failure, FailureMoment, RealServer } from './real-server.ts';

/** The key of each push that took effect, also of those that a row has forgotten. */
const NOTES = `
  create table pushes (collection text, id text, key text);
  create function note_push() returns trigger language plpgsql as $$
    begin
      insert into pushes values (new.collection, new.id, new.keys[1]);
      return new;
    end $$;
  create trigger note_push after insert or update on cairn_rows
    for each row execute function note_push();`;

/** `cairndb/server` over a PostgreSQL of its own, on a port of its own. */
export class PostgresServer implements RealServer {
  #cluster: Cluster;
  #standby: Cluster | undefined;
  #pool!: Pool;
  #store!: PostgresStore;
  #handler!: Handler;
  readonly #listener: Server;
  #failures: readonly Failure[] = [];
  /** Pushes since the last failure. */
  #pushes = 0;
  #isDown = false;
  #up: Promise<void> = Promise.resolve();
  /** No query begins any more. */
  #isShut = false;
  readonly #queries = new Set<Promise<unknown>>();
  crashes = 0;
  readonly onUp = new Set<() => void>();

  private constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#connect();
    this.#listener = createServer(nodeListener((request) => this.#handler(request)));
  }

  static async start(): Promise<PostgresServer> {
    const server = new PostgresServer(await startCluster('fsync=off'));
    await server.#store.setup();
    await server.#pool.query(NOTES);
    await new Promise<void>((resolve) => server.#listener.listen(0, '127.0.0.1', resolve));
    return server;
  }

  async remote(collection: string, through: (server: RemoteFetch) => RemoteFetch): Promise<Remote> {
    const { port } = this.#listener.address() as AddressInfo;
    return http({ url: `http://127.0.0.1:${port}/${collection}`, fetch: through(fetch) });
  }

  async documents(collection: string): Promise<Map<string, object>> {
    const { rows } = await this.#pool.query(
      'select id, body from cairn_rows where collection = $1 and body is not null',
      [collection],
    );
    return new Map(rows.map(({ id, body }) => [id, decodeDocument(body, id)]));
  }

  async appliedTwice(collection: string): Promise<string[]> {
    const { rows } = await this.#pool.query(
      `select id, key, count(*) from pushes where collection = $1
        group by id, key having count(*) > 1`,
      [collection],
    );
    return rows.map(({ id, key, count }) => `the push ${key} of ${id} took effect ${count} times`);
  }

  fail(failures: readonly Failure[]): void {
    this.#failures = failures;
    this.#pushes = 0;
  }

  async recovered(): Promise<void> {
    this.#failures = [];
    await this.#up;
  }

  /** Prepares a standby that gets what is committed until {@link cutStandby}. */
  async addStandby(): Promise<void> {
    this.#standby = await this.#cluster.standby();
  }

  /** What is committed from now on will be lost. */
  cutStandby(): Promise<void> {
    return cutStandby(this.#standby as Cluster);
  }

  /** From now on queries fail; those under way end, and their answers are lost. */
  async shut(): Promise<void> {
    this.#isShut = true;
    await Promise.allSettled(this.#queries);
  }

  /** The standby takes the place of the server that has ended. */
  async promote(): Promise<void> {
    const old = this.#cluster;
    const pool = this.#pool;
    const store = this.#store;
    await old.crash();
    this.#cluster = this.#standby as Cluster;
    this.#cluster.run('psql', '-d', 'postgres', '-c', 'select pg_promote()');
    this.#connect();
    this.#isShut = false;
    for (const call of this.onUp) call();
    await store.close();
    await pool.end();
    await old.remove();
  }

  async stop(): Promise<void> {
    this.#listener.closeAllConnections();
    await new Promise((resolve) => this.#listener.close(resolve));
    await this.#store.close();
    await this.#pool.end();
    await this.#cluster.remove();
  }

  #connect(): void {
    const { folder } = this.#cluster;
    this.#pool = connectionsTo(folder, 'public');
    this.#store = postgres(this.#query, { listen: listenTo(folder) });
    this.#handler = createHandler({
      ...{ store: this.#store, authorize: () => true, onError: () => undefined },
    });
  }

  readonly #query: Query = async (text, values) => {
    if (this.#isShut) throw new Error('the connection was lost');
    const moment = text.includes('cairn_push(') ? this.#failureNow() : undefined;
    if (moment === 'before') this.#crash();
    const query = this.#pool.query(text, values);
    this.#queries.add(query);
    if (moment === 'during') this.#crash();
    try {
      const result = await query;
      if (moment !== 'after' && !this.#isShut) return result;
    } finally {
      this.#queries.delete(query);
    }
    if (moment) this.#crash();
    throw new Error('the answer was lost');
  };

  /** The failure that is due with this push. */
  #failureNow(): FailureMoment | undefined {
    const [failure, ...later] = this.#failures;
    if (!failure || this.#isDown || this.#pushes++ < failure.after) return undefined;
    this.fail(later);
    return failure.moment;
  }

  #crash(): void {
    this.crashes += 1;
    this.#isDown = true;
    const restart = async (): Promise<void> => {
      await this.#cluster.crash();
      await this.#cluster.start();
      this.#isDown = false;
      for (const call of this.onUp) call();
    };
    this.#up = restart();
  }
}
