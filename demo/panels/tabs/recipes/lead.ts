import type { Connection, DoorStatus } from 'cairndb';

// `opening` while the engine is gone and another is looked for, then `open` again.
// What is asked meanwhile waits, and is asked of the next.
export const watchLead = (db: Connection, told: (status: DoorStatus) => void) =>
  db.on('status', told);
