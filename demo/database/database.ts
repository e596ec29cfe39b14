import { computed, signal } from '@preact/signals';
import type { AnyDocument, Connection, DocumentCollection } from 'cairndb';
import type { City } from './city.ts';
import { indexesOf } from './index-lists.ts';
import { openDatabase } from './recipes/open.ts';

interface Opened {
  readonly connection: Connection;
  readonly collections: Map<string, DocumentCollection>;
}

const open = (): Opened => ({ connection: openDatabase(), collections: new Map() });

const opened = signal(open());

const current = computed(() => opened.value.connection);

/** The current connection. Components and effects that call this rerun when it is reopened. */
export const connection = (): Connection => current.value;

/**
 * A collection of the current connection. Its readers rerun when the connection is reopened or the
 * collection dropped.
 */
export function collectionOf(name: string): DocumentCollection {
  const { collections } = opened.value;
  const collection = collections.get(name) ?? anotherHandle(name);
  collections.set(name, collection);
  return collection;
}

/** A handle of its own, for changes that others are told from. */
export const anotherHandle = (name: string): DocumentCollection =>
  new opened.value.connection.Collection<AnyDocument>({
    name,
    type: 'DOCUMENT_BASED',
    caching: true,
    activate_drop_method: true,
    indexes: indexesOf(name),
  });

export const cities = (): DocumentCollection<City> =>
  collectionOf('cities') as unknown as DocumentCollection<City>;

const leaving = new WeakSet<DocumentCollection>();

/** Whether this page is dropping the collection, so that its readers show no error. */
export const isLeaving = (collection: DocumentCollection): boolean => leaving.has(collection);

/**
 * Drops a collection, keeps a backup, and replaces the handle, since a dropped one rejects all
 * calls.
 */
export async function drop(name: string): Promise<void> {
  const dropped = collectionOf(name);
  leaving.add(dropped);
  try {
    await dropped.Drop({ backup: true });
  } catch (error) {
    leaving.delete(dropped);
    throw error;
  }
  const { connection, collections } = opened.peek();
  const others = [...collections].filter(([other]) => other !== name);
  opened.value = { connection, collections: new Map(others) };
}

/** Closes and reopens the database, to apply a change of indexes. */
export async function reopen(): Promise<void> {
  await opened.peek().connection.close();
  opened.value = open();
}
