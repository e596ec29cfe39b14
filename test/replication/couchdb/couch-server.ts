import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import createPouchApp from 'express-pouchdb';
import memoryAdapter from 'pouchdb-adapter-memory';
import PouchDB from 'pouchdb-core';
import { afterAll, beforeAll } from 'vitest';
import type { RemoteFetch } from '../../../src/replication/index.ts';
import { withMango } from './mango.ts';

/** A user of CouchDB would give `http://admin:password@127.0.0.1:5984`. */
const GIVEN = process.env.COUCHDB_URL;

/** A server that speaks CouchDB's protocol. */
export interface CouchServer {
  /** Of the server, without credentials. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Reaches it; what it lacks of CouchDB is added. */
  readonly fetch: RemoteFetch;
  /** Whether it is CouchDB. */
  readonly isReal: boolean;
  /** Closes all connections and listens anew; a given server goes on. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a server for the tests of a file: express-pouchdb in memory. With `COUCHDB_URL` it is the
 * CouchDB there, on which databases are created and deleted whose names begin with `cairn-test-`:
 *
 * ```sh
 * COUCHDB_URL=http://admin:password@127.0.0.1:5984 npx vitest run --project node test/replication/couchdb
 * ```
 */
export function useCouchServer(): () => CouchServer {
  let server: CouchServer;
  beforeAll(async () => {
    server = GIVEN ? givenServer(GIVEN) : await startServer();
  });
  afterAll(async () => {
    for (const database of created.splice(0)) await database.call('DELETE', '');
    await server.stop();
  });
  return () => server;
}

function givenServer(given: string): CouchServer {
  const { origin, pathname, username, password } = new URL(given);
  const credentials = btoa(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return {
    url: `${origin}${pathname}`.replace(/\/$/, ''),
    headers: username ? { authorization: `Basic ${credentials}` } : {},
    fetch: (at, init) => fetch(at, init),
    isReal: true,
    restart: async () => undefined,
    stop: async () => undefined,
  };
}

type PouchApp = RequestListener & { use(app: unknown): void };

/**
 * One for all files of a process: a second one would keep the same list of databases as the first.
 * It outlives this module, which a test that resets modules loads again.
 */
const kept = globalThis as { couchTestApp?: PouchApp };

function appInMemory(): PouchApp {
  if (kept.couchTestApp) return kept.couchTestApp;
  const InMemory = PouchDB.plugin(memoryAdapter).defaults({ adapter: 'memory' });
  const app: PouchApp = express();
  app.use(createPouchApp(InMemory, { mode: 'minimumForPouchDB', inMemoryConfig: true }));
  kept.couchTestApp = app;
  return app;
}

async function startServer(): Promise<CouchServer> {
  const app = appInMemory();
  let server = await listen(createServer(app), 0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    headers: {},
    fetch: withMango((at, init) => fetch(at, init)),
    isReal: false,
    async restart() {
      await close(server);
      server = await listen(createServer(app), port);
    },
    stop: () => close(server),
  };
}

function listen(server: Server, port: number): Promise<Server> {
  // A connection that it closes as a request is on its way would fail the request.
  server.keepAliveTimeout = 0;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

let names = 0;
/** The databases of the file that runs. */
const created: CouchTestDatabase[] = [];

/** One database of a server, as another program uses it. */
export class CouchTestDatabase {
  readonly name = `cairn-test-${Date.now().toString(36)}-${++names}`;
  readonly #server: CouchServer;

  private constructor(server: CouchServer) {
    this.#server = server;
  }

  static async create(server: CouchServer): Promise<CouchTestDatabase> {
    const made = new CouchTestDatabase(server);
    await made.call('PUT', '');
    created.push(made);
    return made;
  }

  get url(): string {
    return `${this.#server.url}/${this.name}`;
  }

  async call(method: string, path: string, body?: unknown): Promise<any> {
    const response = await fetch(this.url + path, {
      method,
      headers: { ...this.#server.headers, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer;
  }

  /**
   * Writes documents as another program would; as revisions of another node with
   * `new_edits: false`.
   */
  write(docs: readonly object[], options: { readonly new_edits?: false } = {}): Promise<any> {
    return this.call('POST', '/_bulk_docs', { docs, ...options });
  }

  get(id: string, query = ''): Promise<any> {
    return this.call('GET', `/${encodeURIComponent(id)}${query}`);
  }

  /** An attachment. */
  file(id: string, name: string): Promise<Response> {
    const { headers } = this.#server;
    return fetch(`${this.url}/${encodeURIComponent(id)}/${name}`, { headers });
  }

  /** All documents, by id. */
  async documents(): Promise<any[]> {
    const { rows } = await this.call('GET', '/_all_docs?include_docs=true&conflicts=true');
    return rows.map(({ doc }: { doc: object }) => doc);
  }

  async recreate(): Promise<void> {
    await this.call('DELETE', '');
    await this.call('PUT', '');
  }
}
