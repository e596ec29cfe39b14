import type { Connection } from 'cairndb';

// In an app: if (import.meta.env.DEV) mount(db);
export async function mount(db: Connection) {
  const { mountDevtools } = await import('cairndb/devtools');
  return mountDevtools(db, { position: 'bottom' });
}
