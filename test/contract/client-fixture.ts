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

/** The package as its users import it: a suite sees the library through this and nothing else. */
export type Library = typeof import('../../src/index.ts');

/** A client that fulfils the contract. */
export interface ClientKind {
  readonly title: string;
  readonly lib: Library;
  /** Where the engine runs. */
  readonly engine: 'thread' | 'worker';
  /** The storage it uses. */
  readonly storage: 'memory' | 'indexeddb';
  /** Makes a client of the database of this name, with all that earlier ones saved. */
  readonly make: (name: string) => DatabaseClient;
}

let databases = 0;

/**
 * A client, and collections that each test has for itself. The client stays open from one test to the next: starting
 * a worker and making a database take ten times as long as most tests.
 */
export class ClientFixture {
  readonly kind: ClientKind;
  readonly lib: Library;
  /** Whether the collections that the fixture makes are cached. */
  readonly caching: boolean;
  #database = '';
  #db: DatabaseClient | undefined;
  #tests = 0;

  constructor(kind: ClientKind, caching: boolean) {
    this.kind = kind;
    this.lib = kind.lib;
    this.caching = caching;
  }

  /** The client, made when first asked for. */
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

  /** A new client of an empty database, for tests that other tests would disturb. */
  async renew(): Promise<DatabaseClient> {
    await this.#db?.close();
    this.#forget();
    return this.db;
  }

  /** A collection of documents, called `things` unless the options say otherwise; `S` are the stamps they ask for. */
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

  /** A key-value collection, called `values` unless the options say otherwise. */
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

  /** The name of this test's collection of this name: no other test has it. */
  nameOf(name: string): string {
    return `${this.#tests} ${name}`;
  }

  /** Ends a test: all of its calls have run and are saved before the next one begins. */
  async endTest(): Promise<void> {
    this.#tests += 1;
    const db = this.#db;
    const database = this.#database;
    // If this fails or does not end, the tests to come have another database.
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

/** A fixture for the tests of the block it is called in. */
export function useClient(kind: ClientKind, caching: boolean): ClientFixture {
  const fixture = new ClientFixture(kind, caching);
  afterEach(() => fixture.endTest());
  afterAll(() => fixture.end());
  return fixture;
}
