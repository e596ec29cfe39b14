import { afterEach } from 'vitest';
import type {
  AnyDocument,
  DocumentCollection,
  DocumentCollectionOptions,
  Door,
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
  readonly make: (name: string) => Door;
}

let databases = 0;

/** A database of a test's own, with the doors to it. Each test starts with a new name. */
export class DoorFixture {
  readonly kind: DoorKind;
  readonly lib: Library;
  /** Whether the collections that the fixture makes are cached. */
  readonly caching: boolean;
  readonly #opened = new Set<Door>();
  #name = '';
  #db: Door | undefined;

  constructor(kind: DoorKind, caching: boolean) {
    this.kind = kind;
    this.lib = kind.lib;
    this.caching = caching;
  }

  /** The door of this test, made when first asked for. */
  get db(): Door {
    this.#db ??= this.secondDoor();
    return this.#db;
  }

  /** One more door to the same database. Only an engine in this thread lets two in at a time. */
  secondDoor(): Door {
    this.#name ||= `contract ${++databases} ${Math.random()}`;
    const door = this.kind.make(this.#name);
    this.#opened.add(door);
    return door;
  }

  /** What a reload does: closes the door and makes it anew. */
  async reopen(): Promise<Door> {
    await this.db.close();
    this.#db = this.secondDoor();
    return this.#db;
  }

  /** A collection of documents, called `things` unless the options say otherwise; `S` are the stamps they ask for. */
  documents<T extends object = AnyDocument, S extends Stamp = never>(
    options: Partial<DocumentCollectionOptions> = {},
  ): DocumentCollection<T, S> {
    const { caching } = this;
    return new this.db.Collection<T>({
      name: 'things',
      type: 'DOCUMENT_BASED',
      caching,
      ...options,
    }) as unknown as DocumentCollection<T, S>;
  }

  /** A key-value collection, called `values` unless the options say otherwise. */
  keyValues<V = unknown>(options: Partial<KeyValueCollectionOptions> = {}): KeyValueCollection<V> {
    const { caching } = this;
    return new this.db.Collection<V>({
      name: 'values',
      type: 'KEY_VALUE_BASED',
      caching,
      ...options,
    });
  }

  /** Ends the test: closes what is open. */
  async end(): Promise<void> {
    const doors = [...this.#opened];
    this.#opened.clear();
    this.#db = undefined;
    this.#name = '';
    for (const door of doors) await door.close();
  }
}

/** A fixture for the tests of the block it is called in. */
export function useDoor(kind: DoorKind, caching: boolean): DoorFixture {
  const door = new DoorFixture(kind, caching);
  afterEach(() => door.end());
  return door;
}
