import type { DocumentCollection, NewDocument } from 'cairndb';

// Each batch is encoded in slices, so that the page stays free.
export async function insertBatches(
  collection: DocumentCollection,
  batches: AsyncIterable<readonly NewDocument[]>,
  inserted: (documents: number) => Promise<void>,
) {
  for await (const batch of batches) {
    await collection.insertMany(batch);
    await inserted(batch.length);
  }
  await collection.save(); // now everything is in storage
}
