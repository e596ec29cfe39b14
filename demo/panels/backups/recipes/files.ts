import type { DocumentCollection } from 'cairndb';

// gzip with one line of JSON per document.
export async function download(collection: DocumentCollection, name: string) {
  const file = await new Response(await collection.exportBackup(name)).blob();
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = `${collection.name}.ndjson.gz`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
  return file.size;
}

// Rejects the whole file if any byte of it is damaged.
export const restoreFrom = (
  collection: DocumentCollection,
  file: File,
  progress: (read: { documents: number; bytes: number }) => void,
) => collection.importBackup(file, { mode: 'replace', progress });
