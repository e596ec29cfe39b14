import { expect, test } from 'vitest';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { fc, runs } from '../setup/properties.ts';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { settled } from './fake-clock.ts';
import { createBackup, idsOf, LinkedCollections } from './linked-collections.ts';

const NAMES = ['a', 'b', 'c', 'd'] as const;

const name = fc.constantFrom(...NAMES);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      in: fc.subarray([...NAMES], { minLength: 1 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('flush' as const), in: name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('backup' as const), in: name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('tidy' as const), in: name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('export' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(0, 300, 1000) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('turn' as const) }) },
);
const fault = fc.record({
  call: fc.constant('write' as const),
  when: fc.constantFrom('before' as const, 'after' as const),
  after: fc.nat(8),
  times: fc.integer({ min: 1, max: 3 }),
});

test('of a transaction a crash leaves all or nothing, whatever runs at the same time', async () => {
  const steps = fc.array(step, { maxLength: 25 });
  const property = fc.asyncProperty(
    ...([steps, fc.array(fault, { maxLength: 2 }), fc.nat(12), fc.boolean()] as const),
    async (script, faults, cutAfter, slow) => {
      const driver = faultyDriver(memoryDriver(), slow);
      const db = await LinkedCollections.over(driver);
      const open = await Promise.all(NAMES.map((one) => db.open(one, { save_early: true })));
      const of = (one: string) => open[NAMES.indexOf(one as 'a')] as (typeof open)[number];
      for (const one of faults) driver.inject(one);
      driver.cut({ after: cutAfter, when: 'after', dies: true });
      const changes: (readonly string[])[] = [];
      const asked: Promise<unknown>[] = [];
      for (const one of script) {
        if (one.do === 'wait') await db.advance(one.ms);
        else if (one.do === 'turn') await settled();
        else if (one.do === 'flush') asked.push(of(one.in).flush());
        else if (one.do === 'backup') asked.push(createBackup(of(one.in)));
        else if (one.do === 'export') asked.push(db.export());
        else if (one.do === 'tidy') asked.push(deleteNewest(of(one.in)));
        else {
          db.change(`t${changes.length}`, ...one.in.map(of));
          changes.push(one.in);
        }
        for (const promise of asked) promise.catch(() => undefined);
      }
      // Nothing waits for another for ever.
      await Promise.allSettled(asked);
      driver.crash();
      const later = await LinkedCollections.over(driver);
      const found = new Map<string, string[]>();
      for (const one of NAMES) found.set(one, idsOf(await later.open(one)));
      for (const [number, names] of changes.entries()) {
        const stored = names.filter((one) => found.get(one)?.includes(`t${number}`));
        expect([[], names]).toContainEqual(stored);
      }
    },
  );
  await fc.assert(property, runs(150));
});

async function deleteNewest(collection: Parameters<typeof createBackup>[0]): Promise<void> {
  const backups = (await collection.execute({ op: 'listBackups', handle: 1 })) as {
    name: string;
  }[];
  const [newest] = backups;
  if (newest) await collection.execute({ op: 'deleteBackup', handle: 1, name: newest.name });
}
