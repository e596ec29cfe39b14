import { describe, expect, test } from 'vitest';
import type { DocumentCollection } from '../../src/index.ts';
import { type FaultyDriver, faultyDriver } from '../storage/faulty-driver.ts';
import { openClient } from './engine-client.ts';
import { FakeClock } from './fake-clock.ts';

/** Each read of the clock takes 6 ms, so long work yields at every second read. */
class RushingClock extends FakeClock {
  #looks = 0;

  override elapsed(): number {
    return super.elapsed() + ++this.#looks * 6;
  }
}

/** Time passes only in the page, as the test says; none in the engine. */
class PageClock extends FakeClock {
  passed = 0;

  override elapsed(): number {
    return super.elapsed() + this.passed;
  }
}

interface Item {
  n: number;
}

const COUNT = 12_000;
const options = {
  name: 'items',
  type: 'DOCUMENT_BASED',
  indexes: [{ fields: 'n' }],
  activate_drop_method: true,
} as const;

/** Storage with {@link COUNT} documents in `items`, half as many in `others`; filled once. */
const filled = (async () => {
  const driver = faultyDriver();
  const { client } = openClient(driver);
  for (const [name, count] of Object.entries({ items: COUNT, others: COUNT / 2 })) {
    const things = new client.Collection<Item>({ ...options, name });
    await things.insertMany(Array.from({ length: count }, (_, n) => ({ _id: `${n}`, n })));
  }
  await client.close();
  return driver;
})();

async function filledDriver(): Promise<FaultyDriver> {
  const driver = faultyDriver();
  const storage = await driver.open('test', { damaged: () => undefined });
  for (const batch of (await filled).batches) await storage.write(batch, 'relaxed');
  return driver;
}

type Read = (things: DocumentCollection<Item>, signal?: AbortSignal) => Promise<unknown>;

/** Reads that examine every document, and find none, or all of them in a different order. */
const READS: Record<string, Read> = {
  scan: (things, signal) => things.filter({ odd: { $mod: [2, 1] } } as never, { signal }),
  'sorted scan': (things, signal) => things.filter({}, { sort: { _id: -1 }, limit: 3, signal }),
  count: (things, signal) => things.count({ odd: 5 } as never, { signal }),
  'index with further conditions': (things, signal) =>
    things.filter({ n: { $gte: 0 }, odd: 5 } as never, { signal }),
  'sort by an index': (things, signal) =>
    things.filter({ odd: 5 } as never, { sort: { n: -1 }, limit: 3, signal }),
  each: async (things, signal) => {
    for await (const _ of things.each({ odd: 5 } as never, { signal })) throw new Error('Found.');
  },
  deleteMany: (things, signal) => things.deleteMany({ odd: 5 } as never, { signal }),
};

/** Expects a get called right after a read to be answered first. */
async function expectGetFirst(things: DocumentCollection<Item>, read: Read): Promise<void> {
  const ended: string[] = [];
  const reading = read(things).then(() => ended.push('read'));
  await Promise.resolve();
  expect(await things.get('77')).toMatchObject({ n: 77 });
  ended.push('get');
  await reading;
  expect(ended).toEqual(['get', 'read']);
}

describe.each([true, false])('with caching %s', (caching) => {
  async function items<C extends FakeClock>(clock: C) {
    const { client } = openClient(await filledDriver(), clock);
    await client.ready;
    const things = new client.Collection<Item>({ ...options, caching });
    return { client, clock, things };
  }

  for (const [name, read] of Object.entries(READS)) {
    // A write blocks later calls until it is done.
    if (name !== 'deleteMany') {
      test(`a get is answered before a long ${name} ends`, async () => {
        const { client, things } = await items(new RushingClock());
        await things.ready;
        await expectGetFirst(things, read);
        await client.close();
      });

      test(`a get is answered before a long ${name} that waits for the collection to open`, async () => {
        const { client, things } = await items(new RushingClock());
        await expectGetFirst(things, read);
        await client.close();
      });
    }

    test(`an abort ends a long ${name} early`, async () => {
      const { client, things } = await items(new RushingClock());
      const others = new client.Collection<Item>({ ...options, name: 'others', caching });
      await Promise.all([things.ready, others.ready]);
      // The first reads load everything from storage and decode it.
      await Promise.all([read(things), read(others)]);
      const controller = new AbortController();
      const ended: string[] = [];
      const whole = read(others).then(() => ended.push('a read half as long'));
      const reading = read(things, controller.signal);
      await Promise.resolve();
      if (name !== 'deleteMany') await things.get('77');
      controller.abort();
      await expect(reading).rejects.toBe(controller.signal.reason);
      expect(await things.count()).toBe(COUNT);
      await things.Drop(); // waits for all reads of the collection
      ended.push('drop');
      await whole;
      expect(ended).toEqual(['drop', 'a read half as long']);
      await client.close();
    });
  }

  test.each(['filter', 'each'] as const)(
    '%s yields to other tasks while the page takes in its results',
    async (name) => {
      const { client, clock, things } = await items(new PageClock());
      await things.ready;
      const pass = () => {
        clock.passed += 0.1;
        return true;
      };
      const read = async (signal?: AbortSignal) => {
        if (name === 'filter') await things.filter(pass, { signal });
        else for await (const _ of things.each({}, { signal })) pass();
      };
      // From here on storage is not read.
      await read();
      const controller = new AbortController();
      setImmediate(() => controller.abort());
      await expect(read(controller.signal)).rejects.toMatchObject({ name: 'AbortError' });
      await client.close();
    },
  );

  test('a live query yields to other tasks while it delivers a long result', async () => {
    const { client, things } = await items(new FakeClock());
    await things.ready;
    // From here on storage is not read, and the code of live queries is loaded.
    await things.live({}).ready;
    const turns: number[] = [];
    let turn = 0;
    setImmediate(() => turn++);
    const query = things.live({});
    const stop = query.subscribe(() => turns.push(turn));
    await query.ready;
    expect(query.getSnapshot().data).toHaveLength(COUNT);
    expect(turns).toEqual([1]);
    stop();
    await client.close();
  });

  test('an aborted deleteMany deletes nothing', async () => {
    const { client, things } = await items(new RushingClock());
    await things.ready;
    const controller = new AbortController();
    const deleting = things.deleteMany({ n: { $mod: [1, 0] } }, { signal: controller.signal });
    await Promise.resolve();
    await Promise.resolve();
    controller.abort();
    await expect(deleting).rejects.toBe(controller.signal.reason);
    expect(await things.count()).toBe(COUNT);
    await client.close();
  });
});
