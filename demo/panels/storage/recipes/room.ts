import type { Connection } from 'cairndb';

// What there is, by collection, and what the browser grants.
export async function room({ storage }: Connection) {
  const [{ usage, quota, collections }, status] = await Promise.all([
    storage.estimate(),
    storage.status,
  ]);
  return { usage, quota, collections, status };
}

// Some browsers decide by themselves, others ask the visitor.
export const keepForGood = ({ storage }: Connection) => storage.persist();
