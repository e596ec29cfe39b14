import { describe, expect, test } from 'vitest';
import type { DocumentCollection } from '../../../src/index.ts';
import type { ClientFixture } from '../client-fixture.ts';
import { rejection, thrown } from '../outcomes.ts';
import { schemaOf } from './libraries.ts';

/** Schemas that do not work, and what passes through a schema. */
export function badSchemasSuite(fixture: ClientFixture): void {
  describe('schemas that do not work', () => {
    const value = (output: unknown) => schemaOf(() => ({ value: output }));
    const throwing = (thrown: unknown) =>
      schemaOf(() => {
        throw thrown;
      });
    const unreadable = {
      get value() {
        throw new Error('unreadable');
      },
    };
    const cases: readonly (readonly [string, ReturnType<typeof schemaOf>, RegExp])[] = [
      ['asynchronous', schemaOf(async (given) => ({ value: given })), /asynchronous/],
      ['rejecting', schemaOf(() => Promise.reject(new Error('later'))), /asynchronous/],
      ['throwing', schemaOf(() => JSON.parse('{')), /threw: .*JSON/],
      ['throwing what has no text', throwing(Object.create(null)), /threw: something/],
      ['throwing a symbol', throwing(Symbol('x')), /threw: Symbol\(x\)/],
      ['whose issues are none', schemaOf(() => ({ issues: [null] }) as never), /threw/],
      ['whose result cannot be read', schemaOf(() => unreadable), /threw: unreadable/],
      ['without a function', schemaOf(undefined as never), /threw/],
      ['that returns nothing', schemaOf(() => undefined), /no result/],
      ['whose output is no document', value(['a']), /no document/],
      ['whose output is a Date', value(new Date(0)), /no document/],
      ['that sets _id', value({ _id: 'mine', a: 1 }), /_id/],
      ['that sets a stamp', value({ a: 1, _created_at: new Date(0) }), /_created_at/],
    ];

    test.each(cases)(
      'one %s is a typed error of every call, and changes nothing',
      async (_, schema, why) => {
        const plain = fixture.documents();
        await plain.insert({ _id: 'a', n: 1 });
        const things: DocumentCollection = fixture.documents({ schema });
        for (const call of [
          () => things.insert({ n: 2 }),
          () => things.insertMany([{ n: 2 }]),
          () => things.upsert({ _id: 'a', n: 2 }),
          () => things.update('a', { n: 2 }),
          () => things.patch('a', { n: 2 }),
          () => things.patchMany({}, { n: 2 }),
          () => things.modify('a', () => ({ n: 2 })),
        ]) {
          const error = await rejection(call());
          expect(error).toBeInstanceOf(fixture.lib.OptionError);
          expect(error).toMatchObject({ code: 'schema_failed', place: 'schema' });
          expect(error.message).toMatch(why);
        }
        expect(await plain.filter({})).toMatchObject([{ _id: 'a', _updated: false, n: 1 }]);
      },
    );

    test.each([
      null,
      5,
      'schema',
      {},
      () => true,
      { '~standard': {} },
      { '~standard': { version: 2 } },
    ])('the constructor refuses %o', (schema) => {
      const error = thrown(() => fixture.documents({ schema: schema as never }));
      expect(error).toBeInstanceOf(fixture.lib.OptionError);
      expect(error).toMatchObject({ code: 'option_invalid', place: 'schema' });
    });

    test('an output that cannot be stored is refused as ever', async () => {
      const schema = schemaOf(() => ({ value: { a: { b: () => 1 } } }));
      const error = await rejection(fixture.documents({ schema }).insert({}));
      expect(error).toMatchObject({ code: 'value_unsupported', place: 'document.a.b' });
    });

    test('paths of issues may be objects, numbers and symbols, or missing', async () => {
      const issues = [
        { message: 'no', path: [{ key: 'list' }, 0, Symbol('x')] },
        { message: 'whole' },
      ];
      const error = await rejection(
        fixture.documents({ schema: schemaOf(() => ({ issues })) }).insert({}),
      );
      expect(error).toMatchObject({
        place: 'document.list[0].Symbol(x)',
        issues: [
          { path: ['list', 0, 'Symbol(x)'], message: 'no' },
          { path: [], message: 'whole' },
        ],
      });
    });

    test('managed fields do not pass through the schema', async () => {
      const seen: unknown[] = [];
      const schema = schemaOf((given) => {
        seen.push(structuredClone(given));
        return { value: { ...(given as object), _id: undefined } };
      });
      const things = fixture.documents({ schema, indicate_created_at: true });
      const made = await things.insert({ _id: 'a', n: 1, _updated: true } as never);
      await things.update('a', { ...made, n: 2 });
      await things.patch('a', { n: 3 });
      await things.modify('a', (found) => ({ ...found, n: 4 }));
      expect(seen).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }]);
      expect(await things.get('a')).toMatchObject({ _id: 'a', _updated: true, n: 4 });
    });

    test('a schema may be given to one handle of several', async () => {
      const schema = schemaOf(() => ({ issues: [{ message: 'never' }] }));
      const plain = fixture.documents();
      expect((await rejection(fixture.documents({ schema }).insert({}))).code).toBe(
        'schema_violation',
      );
      await plain.insert({});
      expect(await plain.count()).toBe(1);
    });
  });
}
