import type { ClientStatus, Connection } from 'cairndb';

// `state` is 'opening' during a failover, then 'open' again. Calls made meanwhile
// wait for the new engine.
export const watchLead = (db: Connection, listener: (status: ClientStatus) => void) =>
  db.on('status', listener);
