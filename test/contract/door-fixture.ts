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

/** One of the ways to use the library that the contract holds for. */
export interface DoorKind {
  readonly title: string;
  readonly lib: Library;
  /** Where the engine has to run. */
  readonly engine: 'thread' | 'worker';
  /** The storage that the door has to have. */
  readonly storage: 'memory' | 'indexeddb';
  /** Makes a door to the database of this name; what was saved through an earlier one is there. */
  readonly make: (name: string) => DatabaseClient;
}

let databases = 0;

/**
 * A door, and collections of a test's own behind it. It stays open from one test to the next: to start a worker and
 * to make a database takes ten times as long as what most tests do.
 */
export class DoorFixture {
  readonly kind: DoorKind;
  readonly lib: Library;
  /** Whether the collections that the fixture makes are cached. */
  readonly caching: boolean;
  #database = '';
  #db: DatabaseClient | undefined;
  #tests = 0;

  constructor(kind: DoorKind, caching: boolean) {
    this.kind = kind;
    this.lib = kind.lib;
    this.caching = caching;
  }

  /** The door, made when first asked for. */
  get db(): DatabaseClient {
    this.#database ||= `contract ${++databases} ${Math.random()}`;
    this.#db ??= this.kind.make(this.#database);
    return this.#db;
  }

  /** What a reload does: closes the door and makes it anew. */
  async reopen(): Promise<DatabaseClient> {
    await this.#db?.close();
    this.#db = undefined;
    return this.db;
  }

  /** A new door to an empty database, for what depends on the others that used the one before. */
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

  /** Ends a test: all that it called has happened and is saved before the next. */
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
export function useDoor(kind: DoorKind, caching: boolean): DoorFixture {
  const door = new DoorFixture(kind, caching);
  afterEach(() => door.endTest());
  afterAll(() => door.end());
  return door;
}
