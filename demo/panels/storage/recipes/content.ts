import type { DocumentCollection } from 'cairndb';

const SAMPLE = 200;

// How much there is in a collection: counted, and weighed by a sample.
export async function contentOf(collection: DocumentCollection) {
  const [documents, sample] = await Promise.all([
    collection.count({}, { archived: true }),
    collection.filter({}, { archived: true, limit: SAMPLE }),
  ]);
  const weighed = sample.reduce((sum, document) => sum + JSON.stringify(document).length, 0);
  const bytes = sample.length === 0 ? 0 : (weighed / sample.length) * documents;
  return { documents, bytes };
}
