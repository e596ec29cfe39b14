import { afterEach, describe, expect, test, vi } from 'vitest';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';

const things = { name: 'things', type: 'DOCUMENT_BASED' } as const;
const sorted = { sort: { name: 1 }, collation: 'sv' } as const;

/** A client of code that was loaded anew, as after an update of the browser. */
async function open(driver: ReturnType<typeof memoryDriver>, checkpointAfter?: number) {
  vi.resetModules();
  const { openClient } = await import('./engine-client.ts');
  return openClient(driver, undefined, checkpointAfter).client;
}

/** Replaces the data of the browser's collators. */
function order(compare: (a: string, b: string) => number): void {
  class Collator extends Intl.Collator {
    override readonly compare = compare;
  }
  vi.stubGlobal('Intl', { ...Intl, Collator });
}

afterEach(() => {
  vi.unstubAllGlobals();
  // Code keeps the collators that it has made.
  vi.resetModules();
});

describe('an index whose collator answers otherwise than when it was written', () => {
  test('is in the new order', async () => {
    const driver = memoryDriver();
    const indexes = [{ fields: 'name', collation: 'sv' }];
    const before = await open(driver, 0);
    const first = new before.Collection<{ name: string }>({ ...things, indexes });
    await first.insertMany(['b', 'a', 'c', 'b'].map((name) => ({ name })));
    await before.close();
    order((a, b) => (a === b ? 0 : a < b ? 1 : -1));
    const after = await open(driver, 0);
    const again = new after.Collection<{ name: string }>({ ...things, indexes });
    expect(await again.count({ name: { $gt: 'b' } }, { collation: 'sv' })).toBe(1);
    await again.ready;
    expect((await again.filter({}, sorted)).map(({ name }) => name)).toEqual(['c', 'b', 'b', 'a']);
    expect((await again.explain({ name: 'b' }, { collation: 'sv' })).plan.kind).toBe('index');
    await after.close();
  });

  test('is checked for duplicates again', async () => {
    const driver = memoryDriver();
    const indexes = [{ fields: 'name', unique: true, collation: 'sv' }];
    const before = await open(driver);
    const first = new before.Collection<{ name: string }>({ ...things, indexes });
    await first.insertMany(['a', 'b'].map((name) => ({ name })));
    await before.close();
    const same = await open(driver);
    await new same.Collection<{ name: string }>({ ...things, indexes }).ready;
    await same.close();
    order(() => 0);
    const after = await open(driver);
    const again = new after.Collection<{ name: string }>({ ...things, indexes });
    await expect(again.ready).rejects.toMatchObject({ code: 'unique_violation' });
    expect(await new after.Collection(things).count()).toBe(2);
    await after.close();
  });
});
