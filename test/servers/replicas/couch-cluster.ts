import { fromCouch } from '../../../src/replication/couchdb/couch-documents.ts';
import { couchdb, type Remote, type RemoteFetch } from '../../../src/replication/index.ts';
import { clusterLike } from '../../replication/couchdb/cluster-like.ts';
import { type CouchServer, CouchTestDatabase } from '../../replication/couchdb/couch-server.ts';
import type { Random } from '../../setup/random.ts';
import type { Failure, RealServer } from './real-server.ts';

/** A server that speaks CouchDB's protocol, as a cluster would, and whose connections break. */
export class CouchCluster implements RealServer {
  readonly onUp = new Set<() => void>();
  restarts = 0;
  readonly #server: CouchServer;
  readonly #reach: RemoteFetch;
  readonly #databases = new Map<string, Promise<CouchTestDatabase>>();
  #failures: readonly Failure[] = [];
  /** Pushes since the last failure. */
  #pushes = 0;
  #isDown = false;
  #up: Promise<void> = Promise.resolve();

  constructor(server: CouchServer, random: Random) {
    this.#server = server;
    const direct: RemoteFetch = (url, init) => this.#fetch(url, init);
    this.#reach = server.isReal ? direct : clusterLike(direct, () => random.next());
  }

  async remote(collection: string, through: (server: RemoteFetch) => RemoteFetch): Promise<Remote> {
    const { url } = await this.#database(collection);
    return couchdb({ url, headers: this.#server.headers, fetch: through(this.#reach) });
  }

  async documents(collection: string): Promise<Map<string, object>> {
    const all = await (await this.#database(collection)).documents();
    return new Map(all.map((couch) => [couch._id, fromCouch(couch).document as object]));
  }

  async neighbour(collection: string, id: string, token: string): Promise<boolean> {
    const database = await this.#database(collection);
    try {
      const found = (await database.documents()).find(({ _id }) => _id === id);
      if (!found) return false;
      const { _conflicts: _, ...document } = found;
      const [{ error }] = await database.write([{ ...document, s: token }]);
      return error === undefined;
    } catch (error) {
      // The server restarts: whether it has written is not known.
      if (error instanceof TypeError) return false;
      throw error;
    }
  }

  /** Revisions are made of what they contain: the same push twice is one revision. */
  async appliedTwice(): Promise<string[]> {
    return [];
  }

  fail(failures: readonly Failure[]): void {
    this.#failures = failures;
    this.#pushes = 0;
  }

  async recovered(): Promise<void> {
    this.#failures = [];
    await this.#up;
  }

  #database(name: string): Promise<CouchTestDatabase> {
    const made = this.#databases.get(name) ?? CouchTestDatabase.create(this.#server);
    this.#databases.set(name, made);
    return made;
  }

  readonly #fetch: RemoteFetch = async (url, init) => {
    const moment = url.endsWith('/_bulk_docs') ? this.#failureNow() : undefined;
    if (moment === 'before') this.#restart();
    const answer = fetch(url, init);
    if (moment === 'during') this.#restart();
    const response = await answer;
    if (moment !== 'after') return response;
    this.#restart();
    await response.body?.cancel();
    throw new TypeError('the connection broke');
  };

  #failureNow(): Failure['moment'] | undefined {
    const [failure, ...later] = this.#failures;
    if (!failure || this.#isDown || this.#pushes++ < failure.after) return undefined;
    this.fail(later);
    return failure.moment;
  }

  #restart(): void {
    this.restarts += 1;
    this.#isDown = true;
    const restart = async (): Promise<void> => {
      await this.#server.restart();
      this.#isDown = false;
      for (const call of this.onUp) call();
    };
    this.#up = restart();
  }
}
