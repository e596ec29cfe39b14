import { expect, test } from 'vitest';
import { contents, openFiles, put, reopened } from './file-rig.ts';

const LARGE = 1024 * 1024;
const large = (n: number) => ({ n, bytes: new Uint8Array(LARGE).fill(n) });

/** The numbers of values that are whole. Vitest takes seconds to compare their bytes. */
function summary(found: Map<number, unknown>): number[] {
  return Array.from(found.values(), (value) => {
    const { n, bytes } = value as ReturnType<typeof large>;
    return bytes.length === LARGE && bytes.every((byte) => byte === n) ? n : Number.NaN;
  });
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 1));
}

test('dead values leave the file, and writes during a compaction are kept', async () => {
  const { database, first, second } = openFiles();
  for (let n = 0; n < 8; n++) await database.write([put(n, large(n))], 'relaxed');
  await database.write([{ type: 'deletePrefix', store: 'collections', prefix: [] }], 'relaxed');
  for (let n = 0; n < 20; n++) {
    await database.write([put(9, large(n))], 'relaxed');
    await database.write([{ type: 'delete', store: 'segments', key: ['a', n % 3] }], 'relaxed');
  }
  await until(() => first.getSize() < 12 * LARGE && second.getSize() < 12 * LARGE);
  const kept = [3, 4, 5, 6, 7, 19];
  expect(summary(await contents(database))).toEqual(kept);
  await database.end();
  const again = reopened(first.bytes, second.bytes);
  expect(summary(await contents(again.database))).toEqual(kept);
  expect(again.damage).toEqual([]);
});

test('a file whose values are nearly all dead becomes short, a busy one is not copied often', async () => {
  const { database, first, second } = openFiles();
  const bytes = new Uint8Array(100 * 1024).fill(1);
  for (let n = 0; n < 5; n++) await database.write([put(n, { n, bytes })], 'relaxed');
  await database.write([put(9, { n: 9 })], 'relaxed');
  const { generation } = database.extent;
  for (let n = 0; n < 5; n++) await database.write([put(9, { n })], 'relaxed');
  await database.flush();
  expect(database.extent.generation).toBe(generation);
  await database.write([{ type: 'deletePrefix', store: 'segments', prefix: [] }], 'relaxed');
  await database.write([put(9, { n: 9 })], 'relaxed');
  await until(() => first.getSize() + second.getSize() < 1024);
  expect(database.extent.generation).toBe(generation + 1);
  for (let n = 0; n < 100; n++) await database.write([put(9, { n })], 'relaxed');
  await database.flush();
  expect(database.extent.generation).toBe(generation + 1);
  expect([...(await contents(database)).values()]).toEqual([{ n: 99 }]);
});

test('a compaction that a crash interrupts loses nothing', async () => {
  const { database, first, second } = openFiles();
  for (let n = 0; n < 4; n++) await database.write([put(n, large(n))], 'relaxed');
  const seen = new Set<string>();
  for (let n = 0; n < 12; n++) {
    await database.write([put(4, large(n))], 'relaxed');
    await new Promise((resolve) => setTimeout(resolve, 0));
    const { database: crashed, damage } = reopened(first.bytes, second.bytes);
    expect(
      [...(await contents(crashed)).values()].map((value) => (value as { n: number }).n),
    ).toEqual([0, 1, 2, 3, n]);
    expect(damage).toEqual([]);
    seen.add(`${first.getSize() > 0} ${second.getSize() > 0}`);
  }
  expect(seen.size).toBeGreaterThan(1);
});

test('a damaged value takes no others along when the browser is killed after a compaction', async () => {
  const { database, first, second } = openFiles();
  for (const n of [1, 2]) await database.write([put(n, large(n))], 'relaxed');
  const at = first.bytes.findIndex(
    (byte, index) => byte === 1 && first.bytes[index + LARGE / 2] === 1,
  );
  first.bytes[at + LARGE / 2] = 7;
  for (let n = 10; n < 16; n++) await database.write([put(9, large(n))], 'relaxed');
  await until(() => first.getSize() === 0);
  const { database: again, damage } = reopened(first.bytes, second.bytes);
  const found = await contents(again);
  expect([...found.keys()]).toEqual([1, 2, 9]);
  expect(found.get(1)).toBeUndefined();
  found.delete(1);
  expect(summary(found)).toEqual([2, 15]);
  expect(damage.map(({ code }) => code)).toEqual(['data_damaged']);
});

test('a full disk keeps no database from closing', async () => {
  const { database, first, second } = openFiles();
  await database.write([put(1, large(1))], 'relaxed');
  first.room = first.getSize();
  await database.end();
  expect([first.isOpen, second.isOpen]).toEqual([false, false]);
  const { database: again, damage } = reopened(first.bytes, second.bytes);
  expect(summary(await contents(again))).toEqual([1]);
  expect(damage).toEqual([]);
});

test('a full disk interrupts a compaction, and the file stays as it is', async () => {
  const { database, second } = openFiles();
  second.room = 2 * LARGE;
  for (let n = 0; n < 14; n++) await database.write([put(n % 3, large(n))], 'relaxed');
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect((await contents(database)).size).toBe(3);
  expect(second.getSize()).toBe(0);
});
