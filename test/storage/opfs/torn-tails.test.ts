import { expect, test } from 'vitest';
import type { StorageOperation } from '../../../src/storage/drivers/driver.ts';
import { fc, runs } from '../../setup/properties.ts';
import { contents, drop, endsOf, openFiles, put, reopened } from './file-rig.ts';

interface Step {
  readonly n: number;
  readonly text: string | undefined;
}

const batches = fc.array(
  fc.array(
    fc.record({
      n: fc.integer({ min: 0, max: 4 }),
      text: fc.option(fc.string({ unit: 'binary', maxLength: 20 }), { nil: undefined }),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  { minLength: 1, maxLength: 5 },
);

const operationsOf = (steps: readonly Step[]): StorageOperation[] =>
  steps.map(({ n, text }) => (text === undefined ? drop(n) : put(n, stored(text))));
const stored = (text: string) => ({ bodies: [text, `${text}.`], n: text.length });

/**
 * Writes the batches. @returns the bytes, and after each batch the size of the file and what it
 * must have.
 */
async function writeAll(all: readonly (readonly Step[])[]) {
  const { database, first } = openFiles();
  const states = [{ end: first.getSize(), model: new Map<number, unknown>() }];
  for (const steps of all) {
    await database.write(operationsOf(steps), 'relaxed');
    const model = new Map(states.at(-1)?.model);
    for (const { n, text } of steps)
      if (text === undefined) model.delete(n);
      else model.set(n, stored(text));
    states.push({ end: first.getSize(), model });
  }
  return { bytes: first.bytes, states };
}

test('a file that ends anywhere has the writes that are whole, and takes more', async () => {
  await fc.assert(
    fc.asyncProperty(batches, async (all) => {
      const { bytes, states } = await writeAll(all);
      const start = states[0]?.end as number;
      for (const end of endsOf(start, bytes.length)) {
        const { database, damage } = reopened(bytes.subarray(0, end));
        const expected = states.findLast((state) => state.end <= end)?.model;
        expect(await contents(database)).toEqual(expected);
        expect(damage).toEqual([]);
        await database.write([put(9, { more: end })], 'relaxed');
        expect(await contents(database)).toEqual(
          new Map([...(expected ?? []), [9, { more: end }]]),
        );
      }
    }),
    { numRuns: 3 },
  );
});

test('a tail of zeros or noise, as after a power cut, is cut as well', async () => {
  await fc.assert(
    fc.asyncProperty(
      batches,
      fc.nat(),
      fc.uint8Array({ maxLength: 60 }),
      async (all, cut, noise) => {
        const { bytes, states } = await writeAll(all);
        const start = states[0]?.end as number;
        const end = start + (cut % (bytes.length - start + 1));
        const torn = bytes.slice();
        torn.fill(0, end);
        torn.set(noise.subarray(0, torn.length - end), end);
        const { database } = reopened(torn);
        const found = await contents(database);
        const whole = states.filter((state) => state.end <= end).length;
        // Zeros may be what was there.
        expect(states.slice(whole - 1).map(({ model }) => model)).toContainEqual(found);
      },
    ),
    runs(200),
  );
});

test('damage in what was flushed is reported, and takes no more than its own frames', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 255 }), async (where, change) => {
      const { database, first } = openFiles();
      for (let n = 0; n < 6; n++) await database.write([put(n, stored(`${n}`))], 'strict');
      await database.write([put(6, stored('6'))], 'strict');
      await database.end();
      const bytes = first.bytes.slice();
      const start = 64;
      const at = start + (where % (bytes.length - start));
      bytes[at] = (bytes[at] as number) ^ change;
      const again = reopened(bytes);
      const found = await contents(again.database);
      const intact = [...found].filter(([, value]) => value !== undefined);
      for (const [n, value] of intact) expect(value).toEqual(stored(`${n}`));
      expect(intact.length).toBeGreaterThanOrEqual(6);
      if (intact.length < 7) expect(again.damage.length).toBeGreaterThan(0);
      for (const { code } of again.damage) expect(code).toBe('data_damaged');
    }),
    runs(300),
  );
});

test('a full disk keeps what is stored, and writes again when there is room', async () => {
  const { database, first } = openFiles();
  await database.write([put(1, { n: 1 })], 'relaxed');
  const size = first.getSize();
  for (let room = size; room < size + 200; room += 7) {
    first.room = room;
    const failed = database.write([put(2, { text: 'x'.repeat(300) })], 'relaxed');
    await expect(failed).rejects.toMatchObject({ code: 'storage_full' });
    expect(await contents(database)).toEqual(new Map([[1, { n: 1 }]]));
  }
  first.room = Number.POSITIVE_INFINITY;
  await database.write([put(3, { n: 3 })], 'relaxed');
  const { database: again } = reopened(first.bytes);
  expect([...(await contents(again)).keys()]).toEqual([1, 3]);
});
