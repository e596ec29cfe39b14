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

type Change =
  | { readonly do: 'put'; readonly id: string; readonly item: Item }
  | { readonly do: 'delete' | 'archive'; readonly id: string };

/** A rest, in which a checkpoint is written. The changes begin so many turns of the event loop later. */
interface Rest {
  readonly do: 'rest';
  readonly turns: number;
  readonly changes: readonly Change[];
}

type Step = Change | Rest | { readonly do: 'save' | 'backup' | 'restore' };

interface Life {
  readonly steps: readonly Step[];
  /** A crash soon after a rest, which loses what is unsaved. */
  readonly crash: Rest | undefined;
}

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('put' as const), id, item }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('delete', 'archive'), id }) },
);

const rest: fc.Arbitrary<Rest> = fc.record({
  do: fc.constant('rest' as const),
  turns: fc.nat({ max: 6 }),
  changes: fc.oneof(fc.constant([]), fc.array(change, { maxLength: 4 })),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: change },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('save' as const) }) },
  { weight: 3, arbitrary: rest },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('backup', 'restore') }) },
);

const life: fc.Arbitrary<Life> = fc.record({
  steps: fc.array(step, { minLength: 4, maxLength: 30 }),
  crash: fc.option(rest, { nil: undefined }),
});

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
  { steps, crash }: Life,
): Promise<void> {
  const items = new client.Collection<Item>(options);
  const apply = (one: Change) => {
    if (one.do === 'put') return items.upsert({ _id: one.id, ...one.item });
    return one.do === 'delete' ? items.delete(one.id) : items.archive(one.id);
  };
  const resting = async ({ turns: before, changes }: Rest) => {
    await items.save();
    const ended = clock.advance(2000);
    await turns(before);
    for (const one of changes) await apply(one);
    await ended;
    await turns(40);
  };
  for (const one of steps) {
    if ('id' in one) await apply(one);
    else if (one.do === 'rest') await resting(one);
    else if (one.do === 'save') await items.save();
    else if (one.do === 'backup') await items.createBackup();
    else {
      const [newest] = await items.listBackups();
      if (newest) await items.loadBackup(newest.name);
    }
  }
  if (crash) await resting(crash);
  else await client.close();
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await settled();
}

test('first reads answer as an open collection does', async () => {
  let answeredFirst = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(life, { minLength: 1, maxLength: 3 }),
      fc.array(read, { minLength: 3, maxLength: 6 }),
      async (lives, reads) => {
        const { driver, directory } = watchedDriver();
        for (const one of lives) await perform(openClient(driver, undefined, 1), one);
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
