import type { DocumentCollection, NewDocument } from 'cairndb';

// `insertMany` encodes a batch in slices, so the page is never blocked for long.
export async function insertBatches(
  collection: DocumentCollection,
  batches: AsyncIterable<readonly NewDocument[]>,
  inserted: (documents: number) => Promise<void>,
) {
  for await (const batch of batches) {
    await collection.insertMany(batch);
    await inserted(batch.length);
  }
  await collection.save(); // now all documents are stored
}
