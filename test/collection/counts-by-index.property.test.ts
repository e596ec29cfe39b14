import { expect, test } from 'vitest';
import { testDatabase } from '../../src/testing/index.ts';
import { fc, runs } from '../setup/properties.ts';

/** How many documents have a key, one after the other, and which of these are archived. */
const stretches = fc.array(
  fc.record({
    key: fc.oneof(fc.nat(6), fc.constantFrom<unknown>('a', null, 1n, 0.5, undefined)),
    count: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 900 })),
    archived: fc.nat(3),
  }),
  { minLength: 1, maxLength: 12 },
);

test('groups that an index counts are those of all documents', async () => {
  const run = async (list: typeof stretches extends fc.Arbitrary<infer L> ? L : never) => {
    const db = testDatabase({ auto_close: false });
    const open = (name: string, indexes: string[]) =>
      new db.Collection<{ key?: unknown }>({ name, type: 'DOCUMENT_BASED', indexes });
    const both = [open('plain', []), open('counted', ['key'])] as const;
    const made = list.flatMap(({ key, count }, at) =>
      Array.from({ length: count }, (_, n) => ({ _id: `${at} ${n}`, key })),
    );
    for (const collection of both) {
      await collection.insertMany(made);
      for (const [at, { archived }] of list.entries())
        for (let n = 0; n < archived; n++) await collection.archive(`${at} ${n}`);
    }
    const pipeline = [{ $group: { _id: '$key', n: { $sum: 1 }, twice: { $sum: 2 } } }];
    for (const archived of [false, true]) {
      const [plain, counted] = await Promise.all(
        both.map((collection) => collection.aggregate(pipeline, { archived })),
      );
      expect(counted).toEqual(plain);
    }
    const { documents_examined } = await both[1].explain(pipeline);
    expect(documents_examined).toBe(0);
    await db.close();
  };
  await fc.assert(fc.asyncProperty(stretches, run), runs(60));
});
