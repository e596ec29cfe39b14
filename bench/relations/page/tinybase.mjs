/**
 * A TinyBase store of tables, without storage.
 *
 * @param {Record<string, readonly { _id: string }[]>} tables
 */
export async function openTinyBase(tables) {
  const library = await import('tinybase');
  const store = library.createStore();
  store.transaction(() => {
    for (const [table, documents] of Object.entries(tables)) {
      for (const { _id, ...cells } of documents) store.setRow(table, _id, toCells(cells));
    }
  });
  return { library, store };
}

/** @param {Record<string, any>} cells */
const toCells = (cells) =>
  Object.fromEntries(
    Object.entries(cells).map(([name, value]) => [name, value instanceof Date ? +value : value]),
  );

/**
 * A query whose whole result is read at each change.
 *
 * @param {import('tinybase').Queries} queries
 * @param {() => void} listener
 */
export function subscribeTinyBase(queries, listener) {
  queries.addResultTableListener('live', () => {
    if (Object.keys(queries.getResultTable('live')).length > 0) listener();
  });
  return () => queries.destroy();
}
