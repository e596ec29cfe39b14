import { describe, expect, test, vi } from 'vitest';

/** Collections of an engine that has loaded no operators yet. */
async function fresh() {
  vi.resetModules();
  const { Database } = await import('../../src/index.ts');
  const db = new Database({ name: 'late', storage: 'memory' });
  const things = new db.Collection<any>({ name: 'things', type: 'DOCUMENT_BASED' });
  const values = new db.Collection<any>({ name: 'values', type: 'KEY_VALUE_BASED' });
  await things.insert({ _id: 'a', flags: [1, 2, 3] });
  await values.set('flags', [1, 2, 3]);
  return { db, things, values };
}

type Fresh = Awaited<ReturnType<typeof fresh>>;

const odd = { $bitsAllSet: 1 };

/** Calls that need the code of `$bitsAllSet`, each the first of its session. */
const calls: Record<string, readonly [call: (given: Fresh) => Promise<any>, result: unknown]> = {
  'filter of a key': [({ values }) => values.filter('flags', odd), [1, 3]],
  'has of a key': [({ values }) => values.has('flags', odd), true],
  'remove of a key': [({ values }) => values.remove('flags', odd), [2]],
  'remove of a key in a transaction': [
    ({ db, values }) => db.transaction((tx) => tx(values).remove('flags', odd)),
    [2],
  ],
  $pull: [async ({ things }) => (await things.patch('a', { $pull: { flags: odd } })).flags, [2]],
  'array_filters of patch': [
    async ({ things }) => {
      const array_filters = [{ f: odd }];
      return (await things.patch('a', { $inc: { 'flags.$[f]': 5 } }, { array_filters })).flags;
    },
    [6, 2, 8],
  ],
  'array_filters of an upsert': [
    async ({ things }) => {
      const options = { array_filters: [{ f: odd }], upsert: true };
      const made = await things.patchOne({ list: [1, 2] }, { $inc: { 'list.$[f]': 5 } }, options);
      return made.list;
    },
    [6, 2],
  ],
  '$pull of patchMany': [({ things }) => things.patchMany({}, { $pull: { flags: odd } }), 1],
};

describe('an operator whose code is a part is known to the first call that has it', () => {
  test.each(Object.keys(calls))('%s', async (name) => {
    const given = await fresh();
    const [call, result] = calls[name] as (typeof calls)[string];
    expect(await call(given)).toEqual(result);
    await given.db.close();
  });
});
