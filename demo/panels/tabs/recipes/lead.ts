import type { ClientStatus, Connection } from 'cairndb';

// `opening` while the engine is gone and another is looked for, then `open` again.
// What is asked meanwhile waits, and is asked of the next.
export const watchLead = (db: Connection, told: (status: ClientStatus) => void) =>
  db.on('status', told);
