import { BaseClient } from '../../src/client/base-client.ts';
import { Engine } from '../../src/engine/engine.ts';
import type { StorageDriver } from '../../src/storage/drivers/driver.ts';
import { FakeClock } from './fake-clock.ts';

/** A door to an engine in this thread whose time, ids and storage belong to the test. */
export interface TestDoor {
  readonly door: BaseClient;
  readonly clock: FakeClock;
}

/** How many ids were generated. A test that sets it back gets the same ids again. */
export const ids = { given: 0 };

export function openDoor(driver: StorageDriver, clock = new FakeClock()): TestDoor {
  const door = new BaseClient(
    { name: 'test', storage: driver, durability: 'relaxed' },
    async (settings, events) => {
      const early: Parameters<Engine['reportError']>[0][] = [];
      const storage = await driver.open(settings.name, { damaged: (error) => early.push(error) });
      const engine = new Engine({
        storage,
        storageKind: driver.kind,
        durability: settings.durability,
        clock,
        newId: (length) => `${++ids.given}`.padStart(length, '_'),
      });
      const session = engine.join((event) => {
        if (event.type !== 'released') events.event(event);
      });
      for (const error of early) engine.reportError(error);
      return {
        place: { engine: 'thread', started: 'thread', leader: true },
        execute: (batch) => session.execute(batch),
        executeNow: (request) => session.executeNow(request).values[0],
        watch: async (on) => {
          session.watching = on;
        },
        save: () => session.save(),
        close: async () => {
          session.leave();
          await engine.stop();
        },
      };
    },
  );
  return { door, clock };
}
