import { expect, test } from 'vitest';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { changedDriver } from '../storage/pass-on.ts';
import { openClient } from './engine-client.ts';
import { settled } from './fake-clock.ts';

interface Thing {
  n: number;
  group: number;
  pad: string;
}

const options = { name: 'things', type: 'DOCUMENT_BASED', indexes: ['group'] } as const;

/** Ten in a segment of 96 kB. */
const THINGS: readonly (Thing & { _id: string })[] = Array.from({ length: 300 }, (_, n) => ({
  _id: `t${n}`,
  n,
  // None of the first segments, where caching begins.
  group: n < 30 ? -1 : n % 10,
  pad: 'p'.repeat(9_000),
}));

/** Each is in nearly all segments. */
const GROUPS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

test.each(['ends', 'fails'])(
  'reads that have read as much as caching does wait for it, and go on where it %s',
  async (how) => {
    let release: () => void = () => undefined;
    let held: Promise<void> | undefined;
    let first: unknown;
    const inner = memoryDriver();
    const driver = changedDriver(inner, (storage) => ({
      async getMany(store, keys) {
        // Caching begins with one segment.
        if (store === 'bodies' && keys.some(([, number]) => number === first)) await held;
        return storage.getMany(store, keys);
      },
    }));
    const { client } = openClient(driver);
    await new client.Collection<Thing>(options).insertMany(THINGS);
    await client.close();
    const storage = await inner.open('test', { damaged: () => undefined });
    first = (await storage.keys('bodies', ['things']))[0]?.[1];
    held = new Promise((resolve, reject) => {
      release = how === 'ends' ? resolve : () => reject(new Error('read failed'));
    });
    const { client: next } = openClient(driver);
    next.on('error', () => undefined);
    const things = new next.Collection<Thing>({ ...options, caching: true });
    await things.count();
    const found: Thing[][] = [];
    const reading = (async () => {
      for (const group of GROUPS) found.push(await things.filter({ group }));
    })();
    for (let turn = 0; turn < 300; turn++) await settled();
    expect(found.length).toBeGreaterThan(2);
    expect(found.length).toBeLessThan(GROUPS.length);
    release();
    await reading;
    for (const [group, list] of found.entries())
      expect(list.map(({ n }) => n)).toEqual(
        THINGS.filter((thing) => thing.group === group).map(({ n }) => n),
      );
    await next.close();
  },
);
