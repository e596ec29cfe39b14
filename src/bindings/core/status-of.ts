import type { DatabaseClient } from '../../client/database-client.ts';
import type { ClientStatus } from '../../collection/events.ts';
import type { Running } from './hook-result.ts';
import { wrong } from './wrong-argument.ts';

/** The status of a database. @throws {OptionError} `option_invalid` if it is none. */
export function statusOf(db: DatabaseClient): Running<ClientStatus> {
  if (!db?.Collection) throw wrong('useDatabaseStatus', db, 'a Database or a connection');
  // `db.status` makes a new object each time.
  let last: ClientStatus | undefined;
  return {
    key: 'status',
    subscribe: (listener) => {
      last = undefined;
      return db.on('status', (status) => {
        last = status;
        listener();
      });
    },
    view: () => {
      last ??= db.status;
      return last;
    },
  };
}
