import type { Connection } from 'cairndb';

// Usage by collection, quota, and whether the data is persistent.
export async function room({ storage }: Connection) {
  const [{ usage, quota, collections }, status] = await Promise.all([
    storage.estimate(),
    storage.status,
  ]);
  return { usage, quota, collections, status };
}

// Chromium and Safari decide by themselves, Firefox asks the visitor.
export const keepForGood = ({ storage }: Connection) => storage.persist();
