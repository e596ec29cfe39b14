import type { Connection } from 'cairndb';

// To add or drop an index, change the list: opening the collection
// builds and drops indexes.
export async function openIndexed(
  db: Connection,
  name: string,
  indexes: readonly string[],
  progress: (built: { documents: number; total: number }) => void,
) {
  const stop = db.on('index', progress);
  const collection = new db.Collection({
    name,
    type: 'DOCUMENT_BASED',
    caching: true,
    activate_drop_method: true,
    indexes,
  });
  await collection.ready;
  stop();
  return collection;
}
