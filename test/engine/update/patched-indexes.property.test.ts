import { expect, test } from 'vitest';
import { Database } from '../../../src/index.ts';
import { fc, runs } from '../../setup/properties.ts';

interface Thing {
  _id: string;
  a?: unknown;
  b?: unknown;
}

/** Some that JSON preserves, some that it does not. */
const value = fc.oneof(
  fc.integer({ min: -2, max: 2 }),
  fc.constantFrom('x', null, true, -0, Number.NaN, new Date(7)),
  fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 2 }),
  fc.record({ deep: fc.integer({ min: 0, max: 2 }) }),
);
const fields = fc.record({ a: value, b: value }, { requiredKeys: [] });
const changes = fc.oneof(
  fields.filter((set) => Object.keys(set).length > 0),
  value.map((deep) => ({ 'c.deep': deep })),
  fc.constant({ $inc: { n: 1 } }),
  value.map((a) => ({ $set: { a } })),
);

test('what a patch makes is what a document of the same content is, in indexes too', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fields, { minLength: 1, maxLength: 4 }),
      fc.array(fc.tuple(fc.boolean(), changes), { maxLength: 4 }),
      async (documents, patches) => {
        const db = new Database({ name: 'shop', storage: 'memory' });
        const options = { type: 'DOCUMENT_BASED', indexes: ['a', 'b', 'c.deep', 'n'] } as const;
        const things = new db.Collection<Thing>({ name: 'things', ...options });
        const copies = new db.Collection<Thing>({ name: 'copies', ...options });
        await things.insertMany(documents.map((each, at) => ({ ...each, _id: `${at}` })));
        for (const [isMany, set] of patches) {
          if (isMany) await things.patchMany({}, set as object);
          else await things.patch('0', set as object);
        }
        const all = await things.filter({});
        await copies.insertMany(all);
        for (const field of ['a', 'b', 'c.deep', 'n']) {
          for (const sought of [...all.map((each) => at(each, field)), null]) {
            if (sought === undefined || typeof sought === 'object') continue;
            const sameField = { [field]: sought } as object;
            const found = await things.filter(sameField, { select: ['_id'] });
            expect(found).toEqual(await copies.filter(sameField, { select: ['_id'] }));
          }
        }
        await db.close();
      },
    ),
    runs(100),
  );
});

test('a patch does not nest deeper than documents may', async () => {
  const db = new Database({ name: 'shop', storage: 'memory' });
  const things = new db.Collection<Thing>({ name: 'things', type: 'DOCUMENT_BASED' });
  await things.insert({ _id: 'a' });
  const nested = (levels: number): unknown => (levels === 0 ? 1 : { x: nested(levels - 1) });
  await things.patch('a', { a: nested(499) });
  const refused = things.patch('a', { 'b.c.d': nested(499) } as object);
  await expect(refused).rejects.toMatchObject({ code: 'value_too_deep' });
  await db.close();
});

function at(document: object, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, step) => (value as Record<string, unknown> | undefined)?.[step],
      document,
    );
}
