/** @typedef {any} TanStackCollection */

/**
 * TanStack DB without storage, with a BTree index for each of these fields.
 *
 * @param {string} id
 * @param {readonly { _id: string }[]} documents
 * @param {readonly string[]} [indexed]
 * @returns {Promise<TanStackCollection>}
 */
export async function openTanStack(id, documents, indexed = []) {
  const { BTreeIndex, createCollection, localOnlyCollectionOptions } = await import('@tanstack/db');
  const getKey = (/** @type {any} */ { _id }) => _id;
  /** @type {TanStackCollection} */
  const collection = createCollection(localOnlyCollectionOptions({ id, getKey }));
  for (const field of indexed) {
    collection.createIndex((/** @type {any} */ row) => row[field], { indexType: BTreeIndex });
  }
  await collection.preload();
  await collection.insert(documents).isPersisted.promise;
  return collection;
}

/**
 * A live query whose whole result is read at each change.
 *
 * @param {(q: any) => any} query
 * @param {() => void} listener
 */
export async function subscribeTanStack(query, listener) {
  const { createLiveQueryCollection } = await import('@tanstack/db');
  /** @type {TanStackCollection} */
  const live = createLiveQueryCollection(query);
  await live.preload();
  const watch = live.subscribeChanges(() => {
    if (live.toArray.length > 0) listener();
  });
  return () => {
    watch.unsubscribe();
    live.cleanup();
  };
}
