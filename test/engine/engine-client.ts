import { Engine } from '../../src/engine/engine.ts';
import { NearSession } from '../../src/engine/near-session.ts';
import { BaseClient } from '../../src/page/client/base-client.ts';
import { Leadership } from '../../src/page/connection/leadership.ts';
import type { StorageDriver } from '../../src/storage/drivers/driver.ts';
import { FakeClock } from './fake-clock.ts';
import { lonePlatform } from './lone-platform.ts';

/** A client of an engine in this thread. The test controls its time, ids and storage. */
export interface TestClient {
  readonly client: BaseClient;
  readonly clock: FakeClock;
}

/** How many ids were generated. A test that resets it gets the same ids again. */
export const ids = { given: 0 };

/** @param checkpointAfter Bytes below which a collection has no checkpoint. */
export function openClient(
  driver: StorageDriver,
  clock = new FakeClock(),
  checkpointAfter?: number,
): TestClient {
  const platform = lonePlatform(clock, undefined);
  const client = new BaseClient(
    { name: 'test', storage: driver, durability: 'relaxed' },
    ({ name, durability }) => {
      const start = async () => {
        const early: Parameters<Engine['reportError']>[0][] = [];
        const storage = await driver.open(name, { damaged: (error) => early.push(error) });
        const engine = new Engine({
          storage,
          storageKind: driver.kind,
          durability,
          clock,
          checkpointAfter,
          newId: (length) => `${++ids.given}`.padStart(length, '_'),
        });
        return hostedEngine(engine, early);
      };
      return { leadership: new Leadership(name, false, platform, start), platform };
    },
  );
  return { client, clock };
}

function hostedEngine(engine: Engine, early: readonly Parameters<Engine['reportError']>[0][]) {
  return {
    shared: false,
    join: async (client: string, { event }: { event: Parameters<Engine['join']>[0] }) => {
      const session = engine.join(event, client);
      for (const error of early) engine.reportError(error);
      return {
        started: 'thread' as const,
        own: true,
        replay: session.resume.bind(session),
        execute: session.execute.bind(session),
        inThread: new NearSession(session),
        watch: async (on: boolean) => {
          session.watching = on;
        },
        save: () => session.save(),
        leave: () => session.leave(),
      };
    },
    stop: async (deleting: boolean) => {
      if (!deleting) await engine.finish();
      await engine.stop();
    },
    replayJournals: () => undefined,
    resign: () => undefined,
    abandon: () => undefined,
  };
}
