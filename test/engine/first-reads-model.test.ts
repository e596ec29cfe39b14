import fc from 'fast-check';
import { expect, test } from 'vitest';
import { directoryKey } from '../../src/storage/checkpoint/checkpoint-format.ts';
import type { Storage, StorageDriver } from '../../src/storage/drivers/driver.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { openClient } from './engine-client.ts';
import { settled } from './fake-clock.ts';

interface Item {
  a: number | string | number[] | null;
  b: number;
}

const options = {
  name: 'items',
  type: 'DOCUMENT_BASED',
  indexes: ['a', { fields: ['b', 'a'] }, { fields: ['tags'], multi: true }],
  save_timeout: 3600,
} as const;

const ids = Array.from({ length: 12 }, (_, n) => `k${n}`);
const id = fc.constantFrom(...ids);
const value = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom('x', null, [1, 2]));
const item = fc.record({
  a: value,
  b: fc.integer({ min: 0, max: 3 }),
  tags: fc.array(fc.constantFrom('s', 't', 'u'), { maxLength: 2 }),
});

type Step =
  | { readonly do: 'put'; readonly id: string; readonly item: Item }
  | { readonly do: 'delete' | 'archive'; readonly id: string }
  | { readonly do: 'save' | 'rest' | 'backup' | 'restore' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), id, item }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('delete', 'archive'), id }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('save' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('rest' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('backup', 'restore') }) },
);

const criteria = fc.oneof(
  fc.record({ a: value }),
  fc.record({ b: fc.integer({ min: 0, max: 3 }), a: value }),
  fc.record({ a: fc.record({ $gte: fc.integer({ min: 0, max: 3 }) }) }),
  fc.record({ b: fc.record({ $in: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 3 }) }) }),
  fc.record({ tags: fc.constantFrom('s', 't', 'u') }),
  fc.record({ $or: fc.tuple(fc.record({ a: value }), fc.record({ tags: fc.constant('t') })) }),
  fc.record({ _id: fc.record({ $in: fc.array(id, { maxLength: 4 }) }) }),
);

const read = fc.record({
  criteria,
  archived: fc.constantFrom(false, true, 'only' as const),
  sort: fc.constantFrom(undefined, { b: 1 as const }, { a: -1 as const }),
  limit: fc.constantFrom(undefined, 1, 3),
});

/** A driver, and whether its collection has a checkpoint. */
function watchedDriver() {
  const inner = memoryDriver();
  let opened: Storage | undefined;
  const driver: StorageDriver = {
    ...inner,
    async open(name, events) {
      opened = await inner.open(name, events);
      return opened;
    },
  };
  const directory = async () => (await opened?.getMany('bodies', [directoryKey('items')]))?.[0];
  return { driver, directory };
}

async function perform(
  { client, clock }: ReturnType<typeof openClient>,
  steps: readonly Step[],
): Promise<void> {
  const items = new client.Collection<Item>(options);
  for (const one of steps) {
    if (one.do === 'put') await items.upsert({ _id: one.id, ...one.item });
    else if (one.do === 'delete') await items.delete(one.id);
    else if (one.do === 'archive') await items.archive(one.id);
    else if (one.do === 'save') await items.save();
    else if (one.do === 'backup') await items.createBackup();
    else if (one.do === 'restore') {
      const [newest] = await items.listBackups();
      if (newest) await items.loadBackup(newest.name);
    } else {
      await items.save();
      await clock.advance(2000);
      for (let turn = 0; turn < 40; turn++) await settled();
    }
  }
  await client.close();
}

test('first reads answer as an open collection does', async () => {
  let answeredFirst = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 4, maxLength: 30 }), { minLength: 1, maxLength: 3 }),
      fc.array(read, { minLength: 3, maxLength: 6 }),
      async (lives, reads) => {
        const { driver, directory } = watchedDriver();
        for (const steps of lives) await perform(openClient(driver, undefined, 1), steps);
        const { client } = openClient(driver, undefined, 1);
        const items = new client.Collection<Item>(options);
        const ask = () =>
          Promise.all([
            ...reads.map(({ criteria: by, ...how }) => items.filter(by as object, how)),
            ...reads.map(({ criteria: by, archived }) => items.count(by as object, { archived })),
            ...ids.map((one) => items.get(one)),
          ]);
        const first = await ask();
        if (await directory()) answeredFirst++;
        await items.ready;
        expect(first).toEqual(await ask());
        await client.close();
      },
    ),
    { numRuns: 150 },
  );
  expect(answeredFirst).toBeGreaterThan(50);
});
