import { ThreadLocks } from '../../src/platform/page-locks.ts';
import type { Platform } from '../../src/platform/platform.ts';
import type { FakeClock } from './fake-clock.ts';

/** Watermarks in storage outlive a client, so each client needs a name of its own. */
export const clients = { named: 0 };

/** The platform of a client without a page and without other tabs. */
export function lonePlatform(clock: FakeClock, storage: Platform['storage']): Platform {
  return {
    clock,
    locks: new ThreadLocks(),
    locked: true,
    broadcast: undefined,
    newPorts: () => new MessageChannel(),
    storage,
    page: undefined,
    pageWriting: () => {
      throw new Error('There is no page.');
    },
    journals: {
      write: () => 0,
      read: () => [],
      forget: () => undefined,
      clear: () => undefined,
      onWritten: () => () => undefined,
    },
    switchboard: undefined,
    newClient: () => `client ${++clients.named}`,
  };
}
