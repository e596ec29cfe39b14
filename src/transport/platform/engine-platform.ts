import { systemClock } from '../../engine/scheduling/clock.ts';
import { indexedDbDriver } from '../../storage/drivers/indexeddb-driver.ts';
import { ThreadLocks } from '../leadership/thread-locks.ts';
import type { Broadcast, EnginePlatform, Locks } from './platform.ts';

const scope = globalThis as typeof globalThis & { document?: Document };
const webLocks = (scope.navigator as { locks?: Locks } | undefined)?.locks;
const driver = indexedDbDriver();

/** The platform of an engine in a worker. */
export const enginePlatform: EnginePlatform = {
  clock: systemClock,
  locks: webLocks ?? new ThreadLocks(),
  // Node has no other tabs.
  locked: webLocks !== undefined || scope.document === undefined,
  broadcast:
    webLocks && typeof BroadcastChannel !== 'undefined'
      ? (name) => new BroadcastChannel(name) as unknown as Broadcast
      : undefined,
  newPorts: () => new MessageChannel(),
  get storage() {
    return typeof indexedDB === 'undefined' ? undefined : driver;
  },
  terminable: true,
};
