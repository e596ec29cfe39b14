import { afterAll, afterEach } from 'vitest';
import type {
  AnyDocument,
  DatabaseClient,
  DocumentCollection,
  DocumentCollectionOptions,
  KeyValueCollection,
  KeyValueCollectionOptions,
  Stamp,
} from '../../src/index.ts';

/** The package as users import it: suites see the library only through this. */
export type Library = typeof import('../../src/index.ts');

/** A kind of client under contract. */
export interface ClientKind {
  readonly title: string;
  readonly lib: Library;
  /** Where the engine runs. */
  readonly engine: 'thread' | 'worker';
  /** The storage it uses. */
  readonly storage: 'memory' | 'indexeddb' | 'opfs' | 'files';
  /** Makes a client of the named database, with the data saved by earlier ones. */
  readonly make: (name: string) => DatabaseClient;
}

let databases = 0;

/**
 * A client, and collections of its own for each test. The client stays open between tests: to start
 * a worker and make a database takes ten times as long as most tests.
 */
export class ClientFixture {
  readonly kind: ClientKind;
  readonly lib: Library;
  /** Whether the collections of the fixture are cached. */
  readonly caching: boolean;
  #database = '';
  #db: DatabaseClient | undefined;
  #tests = 0;

  constructor(kind: ClientKind, caching: boolean) {
    this.kind = kind;
    this.lib = kind.lib;
    this.caching = caching;
  }

  /** The client, made on first access. */
  get db(): DatabaseClient {
    this.#database ||= `contract ${++databases} ${Math.random()}`;
    this.#db ??= this.kind.make(this.#database);
    return this.#db;
  }

  /** Closes the client and makes another, as a reload does. */
  async reopen(): Promise<DatabaseClient> {
    await this.#db?.close();
    this.#db = undefined;
    return this.db;
  }

  /** A new client of an empty database, for tests that need one of their own. */
  async renew(): Promise<DatabaseClient> {
    await this.#db?.close();
    this.#forget();
    return this.db;
  }

  /** A collection of documents, by default `things`; `S` are the stamps that the options enable. */
  documents<T extends object = AnyDocument, S extends Stamp = never>({
    name = 'things',
    ...options
  }: Partial<DocumentCollectionOptions> = {}): DocumentCollection<T, S> {
    const { caching } = this;
    return new this.db.Collection<T>({
      name: this.nameOf(name),
      type: 'DOCUMENT_BASED',
      caching,
      ...options,
    }) as unknown as DocumentCollection<T, S>;
  }

  /** A key-value collection, by default `values`. */
  keyValues<V = unknown>({
    name = 'values',
    ...options
  }: Partial<KeyValueCollectionOptions> = {}): KeyValueCollection<V> {
    const { caching } = this;
    return new this.db.Collection<V>({
      name: this.nameOf(name),
      type: 'KEY_VALUE_BASED',
      caching,
      ...options,
    });
  }

  /** A name unique to this test. */
  nameOf(name: string): string {
    return `${this.#tests} ${name}`;
  }

  /** Ends a test: saves all of its calls before the next one begins. */
  async endTest(): Promise<void> {
    this.#tests += 1;
    const db = this.#db;
    const database = this.#database;
    // If this fails or hangs, later tests use another database.
    this.#forget();
    if (!db || db.status.state === 'closed' || db.status.state === 'failed') return;
    await db.save();
    this.#db = db;
    this.#database = database;
  }

  async end(): Promise<void> {
    await this.#db?.close();
    this.#forget();
  }

  #forget(): void {
    this.#db = undefined;
    this.#database = '';
  }
}

/** A fixture for the tests of the calling block. */
export function useClient(kind: ClientKind, caching: boolean): ClientFixture {
  const fixture = new ClientFixture(kind, caching);
  afterEach(() => fixture.endTest());
  afterAll(() => fixture.end());
  return fixture;
}
