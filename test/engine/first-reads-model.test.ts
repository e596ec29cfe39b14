import { expect, onTestFinished, test, vi } from 'vitest';
import { TextIndex } from '../../src/engine/search/text-index.ts';
import type { DocumentCollection } from '../../src/index.ts';
import { TextRuns } from '../../src/query/text/text-runs.ts';
import { directoryKey } from '../../src/storage/checkpoint/checkpoint-format.ts';
import { WarmSet } from '../../src/storage/checkpoint/warm-set.ts';
import type { Storage, StorageDriver } from '../../src/storage/drivers/driver.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { fc, runs } from '../setup/properties.ts';
import { openClient } from './engine-client.ts';
import { settled } from './fake-clock.ts';

interface Item {
  a: number | string | number[] | null;
  b: number;
}

const options = {
  name: 'items',
  type: 'DOCUMENT_BASED',
  indexes: [
    'a',
    { fields: ['b', 'a'] },
    { fields: ['tags'], multi: true },
    { fields: 'b', where: { a: { $gte: 1 } } },
    { fields: 'b', where: { _archived: false } },
    { fields: 'tags', multi: true, collation: { locale: 'sv', strength: 2 } },
    { text: { text: 1, tags: 2 } },
  ],
  save_timeout: 3600,
} as const;

const ids = Array.from({ length: 12 }, (_, n) => `k${n}`);
const id = fc.constantFrom(...ids);
const value = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom('x', null, [1, 2]));
const item = fc.record({
  a: value,
  b: fc.integer({ min: 0, max: 3 }),
  tags: fc.array(fc.constantFrom('s', 't', 'u'), { maxLength: 2 }),
  text: fc.array(fc.constantFrom('s', 'seven', 'té'), { maxLength: 4 }).map((all) => all.join(' ')),
});

type Change =
  | { readonly do: 'put'; readonly id: string; readonly item: Item }
  | { readonly do: 'delete' | 'archive'; readonly id: string };

/**
 * A rest, in which a checkpoint is written. The changes begin so many turns of the event loop
 * later.
 */
interface Rest {
  readonly do: 'rest';
  readonly turns: number;
  readonly changes: readonly Change[];
}

/** Documents that were read are in the next warm set. */
interface Read {
  readonly do: 'read';
  readonly criteria: object;
}

type Step = Change | Rest | Read | { readonly do: 'save' | 'backup' | 'restore' };

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
  { weight: 3, arbitrary: fc.record({ do: fc.constant('read' as const), criteria: criteria() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('backup', 'restore') }) },
);

const life: fc.Arbitrary<Life> = fc.record({
  steps: fc.array(step, { minLength: 4, maxLength: 30 }),
  crash: fc.option(rest, { nil: undefined }),
});

function criteria() {
  return fc.oneof(
    fc.record({ a: value }),
    fc.record({ b: fc.integer({ min: 0, max: 3 }), a: value }),
    fc.record({ a: fc.record({ $gte: fc.integer({ min: 0, max: 3 }) }) }),
    fc.record({
      b: fc.record({ $in: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 3 }) }),
    }),
    fc.record({ tags: fc.constantFrom('s', 't', 'u', 'T') }),
    fc.record({ $or: fc.tuple(fc.record({ a: value }), fc.record({ tags: fc.constant('t') })) }),
    fc.record({ _id: fc.record({ $in: fc.array(id, { maxLength: 4 }) }) }),
  );
}

const read = fc.record({
  criteria: criteria(),
  archived: fc.constantFrom(false, true, 'only' as const),
  sort: fc.constantFrom(undefined, { b: 1 as const }, { a: -1 as const }),
  limit: fc.constantFrom(undefined, 1, 3),
  collation: fc.constantFrom(undefined, { locale: 'sv', strength: 2 as const }),
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
  const resting = async ({ turns: before, changes }: Rest) => {
    await items.save();
    const ended = clock.advance(2000);
    await turns(before);
    for (const one of changes) await apply(items, one);
    await ended;
    await turns(40);
  };
  for (const one of steps) {
    if ('id' in one) await apply(items, one);
    else if (one.do === 'read') await items.filter(one.criteria);
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

function apply(items: DocumentCollection<Item>, one: Change): Promise<unknown> {
  if (one.do === 'put') return items.upsert({ _id: one.id, ...one.item });
  return one.do === 'delete' ? items.delete(one.id) : items.archive(one.id);
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await settled();
}

/** Counts the documents that are taken from warm sets. */
function countWarm(): () => number {
  const record = vi.spyOn(WarmSet.prototype, 'record');
  onTestFinished(() => record.mockRestore());
  return () => record.mock.results.filter(({ value: found }) => found !== undefined).length;
}

test('first reads answer as an open collection does', async () => {
  let answeredFirst = 0;
  const taken = countWarm();
  const searched = vi.spyOn(TextIndex.prototype, 'open');
  onTestFinished(() => searched.mockRestore());
  const adopted = vi.spyOn(TextRuns.prototype, 'adopt');
  onTestFinished(() => adopted.mockRestore());
  await fc.assert(
    fc.asyncProperty(
      fc.array(life, { minLength: 1, maxLength: 3 }),
      fc.array(read, { minLength: 3, maxLength: 6 }),
      // Visits that ask the same, each with changes at its end.
      fc.array(fc.array(change, { maxLength: 3 }), { minLength: 1, maxLength: 3 }),
      async (lives, reads, visits) => {
        const { driver, directory } = watchedDriver();
        for (const one of lives) await perform(openClient(driver, undefined, 1), one);
        for (const changes of visits) {
          const { client, clock } = openClient(driver, undefined, 1);
          const items = new client.Collection<Item>(options);
          const ask = () =>
            Promise.all([
              ...reads.map(({ criteria: by, ...how }) => items.filter(by as object, how)),
              ...reads.map(({ criteria: by, archived }) => items.count(by as object, { archived })),
              ...ids.map((one) => items.get(one)),
              ...['s', 'seven te', 't -u'].map((text) => items.search(text, { mode: 'any' })),
              items.suggest('se'),
              items.search('s', { archived: 'only', highlight: true }),
            ]);
          const first = await ask();
          if (await directory()) answeredFirst++;
          await items.ready;
          expect(first).toEqual(await ask());
          await turns(10);
          await clock.advance(2000);
          await turns(40);
          for (const one of changes) await apply(items, one);
          await client.close();
        }
      },
    ),
    runs(200),
  );
  expect(answeredFirst).toBeGreaterThan(50);
  expect(taken()).toBeGreaterThan(500);
  expect(searched.mock.calls.length).toBeGreaterThan(50);
  expect(adopted.mock.calls.length).toBeGreaterThan(50);
});
