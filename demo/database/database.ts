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

/** The connection there is now. Components and effects that call it follow when it is opened anew. */
export const connection = (): Connection => current.value;

/** A collection of the connection there is now. Follows as {@link connection} does, and after a drop. */
export function collectionOf(name: string): DocumentCollection {
  const { connection, collections } = opened.value;
  let collection = collections.get(name);
  if (!collection) {
    collection = new connection.Collection<AnyDocument>({
      name,
      type: 'DOCUMENT_BASED',
      caching: true,
      activate_drop_method: true,
      indexes: indexesOf(name),
    });
    collections.set(name, collection);
  }
  return collection;
}

export const cities = (): DocumentCollection<City> =>
  collectionOf('cities') as unknown as DocumentCollection<City>;

const leaving = new WeakSet<DocumentCollection>();

/** Whether this page drops the collection: who reads it need not be told that it is gone. */
export const isLeaving = (collection: DocumentCollection): boolean => leaving.has(collection);

/** Empties a collection; a backup stays. A dropped one is of no use any more: another takes its place. */
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

/** Closes the database and opens it again, as after a change of its indexes. */
export async function reopen(): Promise<void> {
  await opened.peek().connection.close();
  opened.value = open();
}
