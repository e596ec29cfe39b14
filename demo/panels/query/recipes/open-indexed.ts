import type { Connection } from 'cairndb';

// Another list is all there is to it: indexes are built and
// dropped when the collection is opened.
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
