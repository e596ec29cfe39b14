import type { DatabaseClient } from '../../client/database-client.ts';
import type { Runtime } from '../../collection/calls/runtime.ts';
import type { RemoteBackupStatus } from '../../transport/channel/remote-backup-status.ts';

/** A client of a database, as this package knows it. */
interface RuntimeOwner {
  readonly loadRuntime: () => Promise<Runtime>;
}

/** Backups that have a status. */
interface Shown {
  readonly status: RemoteBackupStatus;
}

/** The backups of each client. */
const shown = new WeakMap<object, Set<Shown>>();

export function isClient(value: unknown): value is DatabaseClient {
  return typeof (value as Partial<RuntimeOwner> | null | undefined)?.loadRuntime === 'function';
}

/** Adds backups to `db.status.backups`, or removes stopped ones, and reports the status anew. */
export function showStatus(db: DatabaseClient, backups: Shown, isStopped = false): void {
  const all = shown.get(db) ?? new Set();
  shown.set(db, all);
  if (isStopped) all.delete(backups);
  else all.add(backups);
  (db as unknown as RuntimeOwner).loadRuntime().then(
    ({ channel }) =>
      channel.show('backups', () => ({ backups: Array.from(all, ({ status }) => status) })),
    // The first call of the client rejects with it.
    () => undefined,
  );
}
