import type { Clock } from '../../async/clock.ts';
import { asCairnError } from '../../errors/errors.ts';
import { Announcements } from '../../platform/announcements.ts';
import { lockName } from '../../platform/lock-names.ts';
import { isShared, type Platform } from '../../platform/platform.ts';
import { livingClients, whenGone } from '../../platform/presence.ts';
import type { DatabaseSettings } from '../../protocol/database-settings.ts';
import {
  DATABASE_ID,
  DESTROYED_KEY,
  databaseIdOf,
  destroyedIds,
  putDatabaseId,
} from '../../storage/drivers/database-id.ts';
import {
  STORE_NAMES,
  type StorageDriver,
  type StorageOperation,
} from '../../storage/drivers/driver.ts';
import { EPOCH_KEY, epochOf } from '../../storage/drivers/epoch.ts';
import { deleteFiles } from '../../storage/opfs/delete-files.ts';
import type { EngineAccess } from './leadership.ts';

/** Time for the leader to resign. A frozen one does not. */
const LEAD_MS = 1500;

/** Time for the clients of other tabs to end, and with them their connections to storage. */
const CLIENTS_MS = 2000;

/** Time to empty the database: a frozen page may hold a transaction open. */
const EMPTY_MS = 5000;

/** The lead of a database that other tabs do not share. */
const UNSHARED = { stolen: false, release: () => undefined };

/**
 * Deletes a database in all tabs. No engine is needed, so that it works with any data.
 *
 * 1. All clients fail, here and in other tabs; their engine saves nothing any more.
 * 2. This page takes the lead, from a frozen leader by a steal.
 * 3. One write empties the database, with a new id and the next epoch: from now on nothing is left,
 *   even if this page ends here, and what earlier leaders and clients still write is refused.
 * 4. The unload journals and the database files go; files that a frozen tab has open count no more.
 * 5. The empty database goes, unless a frozen tab, or in WebKit a worker that was ended, has it
 *   open. A deletion that waits for such a connection would block the next opening.
 *
 * docs/decisions/035-destroying-a-database.md has the reasons.
 *
 * @param database The id of the database. One that has another id is left alone: somebody else has
 *   deleted this one.
 * @throws {StorageError} `database_busy` where something blocks the deletion, or why the database
 *   cannot be emptied.
 */
export async function destroyDatabase(
  settings: DatabaseSettings,
  { leadership, platform }: EngineAccess,
  database: string | undefined,
): Promise<void> {
  const { name } = settings;
  const driver = driverOf(settings, platform);
  const shared = isShared(settings, platform);
  const { broadcast, clock, journals } = platform;
  const announcements =
    shared && broadcast
      ? new Announcements(name, broadcast, ({ type }) => {
          // A new tab must not take this one for a frozen leader.
          if (type === 'who') announcements?.say({ type: 'begin' });
        })
      : undefined;
  announcements?.say({ type: 'destroyed', database });
  try {
    await leadership.destroy(database, async () => {
      if (!driver) return;
      const others = shared ? othersEnd(name, platform) : Promise.resolve(true);
      // It is awaited below, unless there is nothing left to delete.
      others.catch(() => undefined);
      const lead = shared ? await takeLead(name, platform) : UNSHARED;
      try {
        const emptying = empty(driver, name, database, lead.stolen, shared);
        const emptied = await within(clock, EMPTY_MS, emptying);
        if (emptied === 'gone') return;
        if (shared) journals.clear(name);
        const isFree = await others;
        if (shared) await deleteFiles(name);
        // In WebKit, whose pages hear that they are left, a worker that was ended may keep its
        // connection.
        const isKept = leadership.hasEnded && platform.page?.onLeaving;
        if (emptied === 'empty' && (!isFree || isKept)) return;
        if (driver.delete) await driver.delete(name);
        else if (emptied !== 'empty') throw asCairnError(emptied);
      } finally {
        lead.release();
      }
    });
  } finally {
    announcements?.close();
  }
}

/** The driver of what outlives the engine. */
function driverOf(
  { storage }: DatabaseSettings,
  { storage: shared }: Platform,
): StorageDriver | undefined {
  return typeof storage === 'object' ? storage : storage === 'memory' ? undefined : shared;
}

/**
 * Empties a database in one write.
 *
 * @returns `gone` where the name has another database by now, or nothing can be stored here; the
 *   error where it cannot be emptied.
 */
async function empty(
  driver: StorageDriver,
  name: string,
  database: string | undefined,
  stolen: boolean,
  shared: boolean,
): Promise<unknown> {
  try {
    const storage = await driver.open(name, { damaged: () => undefined });
    try {
      const keys = [EPOCH_KEY, DATABASE_ID, DESTROYED_KEY];
      const [leader, id, destroyed] = await storage.getMany('leadership', keys);
      const epoch = epochOf(leader);
      const isOther = database !== undefined && databaseIdOf(id) !== database;
      // One that nobody leads or has written to was made by this opening.
      if (isOther && (stolen || epoch > 0)) return 'gone';
      const claim = Math.random().toString(36).slice(2);
      // First, as a write with `recovery` has it. A driver of the caller's has no such records.
      const deletes = [...STORE_NAMES]
        .reverse()
        .flatMap((store) => (store === 'recovery' && !shared ? [] : deleteAll(store)));
      await storage.write(
        [
          ...deletes,
          {
            ...{ type: 'put', store: 'leadership', key: EPOCH_KEY },
            value: { epoch: epoch + 1, claim },
          },
          putDatabaseId(),
          {
            type: 'put',
            store: 'leadership',
            key: DESTROYED_KEY,
            value: { ids: [...destroyedIds(destroyed), databaseIdOf(id)] },
          },
        ],
        'strict',
      );
      return 'empty';
    } finally {
      await storage.close();
    }
  } catch (error) {
    return (error as { code?: string }).code === 'storage_unavailable' ? 'gone' : error;
  }
}

function deleteAll(store: (typeof STORE_NAMES)[number]): StorageOperation {
  return { type: 'deletePrefix', store, prefix: [] };
}

/** Takes the lock of the leader, after a while by a steal. */
function takeLead(
  name: string,
  { locks, clock }: Platform,
): Promise<{ readonly stolen: boolean; readonly release: () => void }> {
  return new Promise((resolve, reject) => {
    const request = (steal: boolean): void => {
      const waiting = new AbortController();
      const cancel = steal
        ? () => undefined
        : clock.after(LEAD_MS, () => {
            waiting.abort();
            request(true);
          });
      const held = locks.request(
        lockName(name),
        steal ? { steal } : { signal: waiting.signal },
        () => {
          cancel();
          if (waiting.signal.aborted) return undefined;
          return new Promise<void>((release) => resolve({ stolen: steal, release }));
        },
      );
      // Aborted here, or stolen by another tab that deletes the database, too: that changes
      // nothing.
      held.catch((error: { name?: string }) => {
        if (error.name !== 'AbortError') reject(error);
      });
    };
    request(false);
  });
}

/** Whether all clients that live now, in other tabs, end within a while. */
async function othersEnd(name: string, { locks, clock }: Platform): Promise<boolean> {
  const clients = await livingClients(name, locks);
  const stops: (() => void)[] = [];
  const gone = clients.map(
    (client) =>
      new Promise<void>((resolve) => void stops.push(whenGone(name, client, locks, resolve))),
  );
  const late = await within(clock, CLIENTS_MS, Promise.all(gone));
  for (const stop of stops) stop();
  return Array.isArray(late);
}

/** What a promise brings, or an error that time is over. */
function within(clock: Clock, ms: number, promise: Promise<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => resolve(new Error('Time is over.')));
    promise.finally(cancel).then(resolve, reject);
  });
}
