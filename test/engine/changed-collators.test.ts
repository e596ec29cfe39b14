import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Collation } from '../../src/api/options/collation.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { fc, runs } from '../setup/properties.ts';

const things = { name: 'things', type: 'DOCUMENT_BASED' } as const;
const sorted = { sort: { name: 1 }, collation: 'sv' } as const;

let opened = 0;

/** A client of code that was loaded anew, as after an update of the browser. */
async function open(driver: ReturnType<typeof memoryDriver>, checkpointAfter?: number) {
  vi.resetModules();
  const { ids, openClient } = await import('./engine-client.ts');
  const { clients } = await import('./lone-platform.ts');
  opened += 1;
  // Names and ids go on, as new code counts from zero.
  clients.named = ids.given = opened * 1000;
  return openClient(driver, undefined, checkpointAfter).client;
}

/** Replaces the data of the browser's collators. */
function order(compare: (a: string, b: string) => number): void {
  class Collator extends Intl.Collator {
    override readonly compare = compare;
  }
  vi.stubGlobal('Intl', { ...Intl, Collator });
}

const reversed = (a: string, b: string) => (a === b ? 0 : a < b ? 1 : -1);

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
    order(reversed);
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

describe.each([0, undefined])('a backup of another order, checkpoints after %s', (after) => {
  /** A database with a backup of four documents, and a file of three of them. */
  async function begin(unique = false) {
    const driver = memoryDriver();
    const indexes = [{ fields: 'name', collation: 'sv', unique }];
    const client = await open(driver, after);
    const first = new client.Collection<{ name: string }>({ ...things, indexes });
    await first.insertMany(['b', 'a', 'c', 'd'].map((name) => ({ name })));
    const backup = await first.createBackup();
    await first.deleteMany({ name: 'd' });
    const file = await new Response(await first.exportBackup(await first.createBackup())).blob();
    await client.close();
    return { driver, indexes, backup, file };
  }

  test.each([true, false])('is restored in the new one (unique: %s)', async (unique) => {
    const { driver, indexes, backup } = await begin(unique);
    order(reversed);
    const client = await open(driver, after);
    const again = new client.Collection<{ name: string }>({ ...things, indexes });
    expect(await again.loadBackup(backup)).toBe(true);
    expect((await again.filter({}, sorted)).map(({ name }) => name)).toEqual(['d', 'c', 'b', 'a']);
    expect(await again.count({ name: { $gt: 'b' } }, { collation: 'sv' })).toBe(1);
    expect((await again.explain({ name: 'b' }, { collation: 'sv' })).plan.kind).toBe('index');
    await client.close();
    const last = await open(driver, after);
    const reopened = new last.Collection<{ name: string }>({ ...things, indexes });
    expect(await reopened.count({ name: { $gt: 'b' } }, { collation: 'sv' })).toBe(1);
    await last.close();
  });

  test('is refused where its documents are duplicates now', async () => {
    const { driver, indexes, backup, file } = await begin(true);
    const plain = await open(driver, after);
    await new plain.Collection<{ name: string }>(things).deleteMany({ name: { $ne: 'a' } });
    await plain.close();
    order(() => 0);
    const client = await open(driver, after);
    const again = new client.Collection<{ name: string }>({ ...things, indexes });
    for (const refused of [again.loadBackup(backup), again.importBackup(file)])
      await expect(refused).rejects.toMatchObject({
        ...{ code: 'unique_violation', place: 'name (sv 3)' },
      });
    expect(await again.count()).toBe(1);
    await client.close();
  });

  test('is read in the new one', async () => {
    const { driver, indexes, backup } = await begin();
    order(reversed);
    const client = await open(driver, after);
    const again = new client.Collection<{ name: string }>({ ...things, indexes });
    const view = await again.at(backup);
    expect((await view.filter({}, sorted)).map(({ name }) => name)).toEqual(['d', 'c', 'b', 'a']);
    expect(await view.count({ name: { $gt: 'b' } }, { collation: 'sv' })).toBe(1);
    await client.close();
  });

  test.each(['replace', 'merge'] as const)('comes from another device by %s', async (mode) => {
    const { file, indexes } = await begin();
    order(reversed);
    const client = await open(memoryDriver(), after);
    const again = new client.Collection<{ name: string }>({ ...things, indexes });
    await again.insert({ name: 'e' });
    await again.importBackup(file, { mode });
    const found = (await again.filter({}, sorted)).map(({ name }) => name);
    expect(found).toEqual(mode === 'merge' ? ['e', 'c', 'b', 'a'] : ['c', 'b', 'a']);
    expect((await again.explain({ name: 'b' }, { collation: 'sv' })).plan.kind).toBe('index');
    await client.close();
  });
});

describe('any texts are in the order of Array.prototype.sort, after another order too', () => {
  const texts = fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' })), {
    minLength: 1,
    maxLength: 30,
  });

  test.each<[locale: string, collation: Collation, fields: string[]]>([
    ['sv', 'sv', []],
    ['sv', 'sv', ['name']],
    ['en', { locale: 'en', strength: 2 }, ['name', 'n']],
    ['de', { locale: 'de', strength: 1, numeric: true }, ['name']],
  ])('%s, %j, with an index of %j', async (locale, collation, fields) => {
    const indexes = fields.length > 0 ? [{ fields, collation }] : [];
    const { strength = 3, numeric = false } = typeof collation === 'string' ? {} : collation;
    const sensitivity = (['base', 'accent', 'variant'] as const)[strength - 1];
    await fc.assert(
      fc.asyncProperty(texts, async (names) => {
        const driver = memoryDriver();
        const check = async (compare: (a: string, b: string) => number, given: string[]) => {
          const client = await open(driver, 0);
          const all = new client.Collection<{ name: string; n: number }>({ ...things, indexes });
          if (given.length > 0) await all.insertMany(given.map((name, n) => ({ name, n })));
          await all.ready;
          const found = async (criteria: object) =>
            (await all.filter(criteria, { sort: { name: 1 }, collation })).map(({ name }) => name);
          const sorted = [...names].sort(compare);
          expect(await found({})).toEqual(sorted);
          const [middle] = sorted.slice(sorted.length / 2) as [string];
          const isEqual = (name: string) => compare(name, middle) === 0;
          expect(await found({ name: middle })).toEqual(sorted.filter(isEqual));
          expect(await found({ name: { $in: [middle] } })).toEqual(sorted.filter(isEqual));
          const behind = sorted.filter((name) => compare(name, middle) > 0);
          expect(await found({ name: { $gt: middle } })).toEqual(behind);
          await client.close();
        };
        const { compare } = new Intl.Collator(locale, { sensitivity, numeric });
        await check(compare, names);
        await check(compare, []);
        order((a, b) => compare(b, a));
        await check((a, b) => compare(b, a), []);
        vi.unstubAllGlobals();
      }),
      runs(10),
    );
  });
});
