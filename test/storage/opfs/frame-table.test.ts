import { expect, test } from 'vitest';
import type { StorageOperation } from '../../../src/storage/drivers/driver.ts';
import { HEADER_SIZE } from '../../../src/storage/opfs/frames/frame-format.ts';
import { POINTER_AT } from '../../../src/storage/opfs/frames/frame-log.ts';
import { fc, runs } from '../../setup/properties.ts';
import { contents, drop, endsOf, openFiles, put, reopened } from './file-rig.ts';
import { MemoryFile } from './memory-file.ts';

const COUNT = 700;
const SIZE = 8 * 1024;

const value = (n: number, version = 0) => ({ n, version, text: 'x'.repeat(SIZE) });

/** Where the table of a file is, by its header; 0 for none. */
const pointerOf = ({ buffer, length }: Uint8Array<ArrayBuffer>) =>
  length > POINTER_AT + 8 ? new DataView(buffer).getFloat64(POINTER_AT, true) : 0;

/** Waits for the writes that follow others by themselves. */
async function rest(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
}

/** The number and the version of each value. */
const versions = (found: Map<number, unknown>) =>
  new Map(Array.from(found, ([key, one]) => [key, (one as ReturnType<typeof value>)?.version]));

const puts = (from: number) =>
  Array.from({ length: COUNT }, (_, n) => put(from + n, value(from + n)));

/** A file of over four megabytes. */
async function writeLong(operations: readonly StorageOperation[] = []) {
  const { database, first } = openFiles();
  await database.write(puts(0), 'relaxed');
  await rest();
  const table = first.getSize();
  for (const operation of operations) await database.write([operation], 'relaxed');
  return { database, first, table };
}

const expected = (...changed: readonly (readonly [n: number, version: number | undefined])[]) => {
  const all = new Map(Array.from({ length: COUNT }, (_, n) => [n, 0]));
  for (const [n, version] of changed)
    if (version === undefined) all.delete(n);
    else all.set(n, version);
  return all;
};

class CountingFile extends MemoryFile {
  reads = 0;

  override read(into: Uint8Array, range: { at: number }): number {
    this.reads++;
    return super.read(into, range);
  }
}

/** How many reads opening takes. */
function readsOf(bytes: Uint8Array<ArrayBuffer>): number {
  const file = new CountingFile(bytes);
  openFiles(file);
  return file.reads;
}

test('a long file is opened by its table, and not by the head of each frame', async () => {
  const { database, first, table } = await writeLong();
  // Killed, and closed.
  expect(readsOf(first.bytes)).toBeLessThan(12);
  await database.end();
  expect(readsOf(first.bytes)).toBeLessThan(12);
  const without = first.bytes.slice(0, table);
  without.fill(0, POINTER_AT, 64);
  expect(readsOf(without)).toBeGreaterThan(COUNT / 2);
});

test('changes behind the table are found, by writes and deletions', async () => {
  const changes = [put(3, value(3, 1)), drop(5), put(COUNT, value(COUNT, 2)), drop(COUNT - 1)];
  const { first } = await writeLong(changes);
  const { database, damage } = reopened(first.bytes);
  const found = versions(await contents(database));
  expect(found).toEqual(expected([3, 1], [5, undefined], [COUNT, 2], [COUNT - 1, undefined]));
  expect(damage).toEqual([]);
});

test('a file that ends anywhere behind its table has the writes that are whole, and takes more', async () => {
  const { first, table } = await writeLong([put(1, { version: 1 }), put(2, { version: 2 })]);
  const { length } = first.bytes;
  for (const end of endsOf(table, length)) {
    const { database, damage } = reopened(first.bytes.subarray(0, end));
    const [one, two] = await database.getMany('segments', [
      ['a', 1],
      ['a', 2],
    ]);
    const half = table + (length - table) / 2;
    expect([one, two]).toEqual([
      end < half ? value(1) : { version: 1 },
      end < length ? value(2) : { version: 2 },
    ]);
    expect(damage).toEqual([]);
    await database.write([put(1, { version: 3 })], 'relaxed');
    expect(await database.getMany('segments', [['a', 1]])).toEqual([{ version: 3 }]);
  }
});

test('a table, or the way to it, that is damaged or lost is done without', async () => {
  const { first, table } = await writeLong([put(3, value(3, 1))]);
  const at = pointerOf(first.bytes);
  const places = [POINTER_AT, POINTER_AT + 9, at, at + 17, at + HEADER_SIZE + 5, table - 20];
  for (const place of places) {
    const bytes = first.bytes.slice();
    bytes[place] = (bytes[place] as number) ^ 1;
    const { database } = reopened(bytes);
    expect(versions(await contents(database))).toEqual(expected([3, 1]));
  }
  // A power cut may take the table and leave the way to it.
  const { database } = reopened(first.bytes.subarray(0, at + 100));
  expect(versions(await contents(database))).toEqual(expected());
});

test('a value that is damaged before the table is reported when it is read, and alone is lost', async () => {
  const { first } = await writeLong();
  const bytes = first.bytes.slice();
  bytes[SIZE * 10] = (bytes[SIZE * 10] as number) ^ 1;
  const { database, damage } = reopened(bytes);
  const found = await contents(database);
  expect([...found.values()].filter((one) => one === undefined)).toHaveLength(1);
  expect(damage).toHaveLength(1);
});

test('a disk that takes no table keeps all that is stored, and gets one when there is room', async () => {
  const { database, first } = openFiles();
  await database.write(puts(0), 'relaxed');
  first.room = first.getSize() + 10;
  await rest();
  expect(readsOf(first.bytes)).toBeGreaterThan(COUNT / 2);
  first.room = Number.POSITIVE_INFINITY;
  await database.write(puts(COUNT), 'relaxed');
  await rest();
  expect(readsOf(first.bytes)).toBeLessThan(12);
  const found = versions(await contents(reopened(first.bytes).database));
  expect([...found.keys()]).toEqual(Array.from({ length: 2 * COUNT }, (_, n) => n));
});

test('whatever is written, killed and closed, the file has what was written', async () => {
  let tables = 0;
  const step = fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({ kind: fc.constant('put' as const), n: fc.nat(9), size: fc.nat(3) }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('drop' as const), n: fc.nat(9) }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'dropAll' as const }) },
    {
      weight: 3,
      arbitrary: fc.constantFrom({ kind: 'kill' as const }, { kind: 'close' as const }),
    },
  );
  const script = fc.array(step, { minLength: 30, maxLength: 60 });
  const property = fc.asyncProperty(script, async (steps) => {
    let files = openFiles();
    const model = new Map<number, unknown>();
    for (const [version, one] of steps.entries()) {
      const { database, first, second } = files;
      if (one.kind === 'put') {
        const stored = { version, bytes: new Uint8Array(one.size * 400_000).fill(version) };
        await database.write([put(one.n, stored)], 'relaxed');
        model.set(one.n, version);
        await rest();
      } else if (one.kind === 'drop') {
        await database.write([drop(one.n)], 'relaxed');
        model.delete(one.n);
      } else if (one.kind === 'dropAll') {
        await database.write(
          [{ type: 'deletePrefix', store: 'segments', prefix: ['a'] }],
          'relaxed',
        );
        model.clear();
      } else {
        if (one.kind === 'close') await database.end();
        tables += [first, second].some(({ bytes }) => pointerOf(bytes) > 0) ? 1 : 0;
        files = reopened(first.bytes, second.bytes);
      }
    }
    const found = versions(await contents(files.database));
    expect([...found].sort(([a], [b]) => a - b)).toEqual([...model].sort(([a], [b]) => a - b));
    expect(files.damage).toEqual([]);
  });
  await fc.assert(property, runs(24));
  expect(tables).toBeGreaterThan(5);
});
