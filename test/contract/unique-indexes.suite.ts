import { describe, expect, test } from 'vitest';
import type { CairnError, DocumentCollection, IndexOption } from '../../src/index.ts';
import type { ClientFixture } from './client-fixture.ts';
import { idsOf, rejection } from './outcomes.ts';

/** Long enough that `insertMany` travels in several messages. */
const LONG = 'x'.repeat(2000);

const EMAIL: IndexOption[] = [{ fields: 'email', unique: true }];

/** Indexes with `unique: true`. */
export function uniqueIndexesSuite(fixture: ClientFixture): void {
  describe('unique indexes', () => {
    const users = async (): Promise<DocumentCollection> => {
      const things = fixture.documents({ indexes: EMAIL });
      await things.insertMany([
        { _id: 'ada', email: 'ada@x', n: 1 },
        { _id: 'bob', email: 'bob@x', n: 2 },
      ]);
      return things;
    };

    const expectViolation = (error: CairnError, value: unknown, id: string, index = 'email') => {
      expect(error instanceof fixture.lib.ValueError).toBe(true);
      expect(error).toMatchObject({ code: 'unique_violation', place: index });
      for (const part of [`"${index}"`, JSON.stringify(value), `"${id}"`]) {
        expect(error.message).toContain(part);
      }
    };

    test('refuse a duplicate key in every method, and change nothing', async () => {
      const things = await users();
      const before = await things.filter({});
      const email = 'ada@x';
      for (const call of [
        () => things.insert({ email }),
        () => things.insert({ _id: 'new', email }),
        () => things.upsert({ _id: 'new', email }),
        () => things.upsert({ _id: 'bob', email }),
        () => things.update('bob', { email }),
        () => things.patch('bob', { email }),
        () => things.insertMany([{ email: 'c@x' }, { email }, { email: 'd@x' }]),
      ]) {
        expectViolation(await rejection(call()), email, 'ada');
        expect(await things.filter({})).toEqual(before);
        expect(await things.count({ email: { $in: ['c@x', 'd@x'] } })).toBe(0);
      }
      await things.save();
      await fixture.reopen();
      const again = fixture.documents({ indexes: EMAIL });
      expect(await again.filter({})).toEqual(before);
      expectViolation(await rejection(again.insert({ email })), email, 'ada');
    });

    test('allow a document to keep its key', async () => {
      const things = await users();
      await things.update('ada', { email: 'ada@x', n: 5 });
      await things.patch('ada', { email: 'ada@x' });
      await things.upsert({ _id: 'ada', email: 'ada@x', n: 6 });
      expect(await things.get('ada')).toMatchObject({ email: 'ada@x', n: 6 });
      expect(idsOf(await things.filter({ email: 'ada@x' }))).toEqual(['ada']);
    });

    test('refuse duplicates within one insertMany of any length, atomically', async () => {
      const things = await users();
      const [one, two] = [
        { _id: 'one', email: 'same' },
        { _id: 'two', email: 'same' },
      ];
      expectViolation(await rejection(things.insertMany([one, two])), 'same', 'one');
      const many = Array.from({ length: 1200 }, (_, n) => ({ email: `${n}@x`, LONG }));
      const error = await rejection(things.insertMany([...many, { email: '7@x' }]));
      expect(error.code).toBe('unique_violation');
      expect(await things.count()).toBe(2);
      expect((await things.insertMany(many)).length).toBe(1200);
      expect(idsOf(await things.filter({ email: 'ada@x' }))).toEqual(['ada']);
    });

    test('free the key of a deleted document', async () => {
      const things = await users();
      await things.patch('ada', { email: 'other' });
      await things.insert({ _id: 'c', email: 'ada@x' });
      await things.delete('c');
      await things.insert({ _id: 'd', email: 'ada@x' });
      await things.deleteMany({ email: 'ada@x' });
      await things.insert({ _id: 'e', email: 'ada@x' });
      expect(idsOf(await things.filter({ email: 'ada@x' }))).toEqual(['e']);
    });

    test('include archived documents', async () => {
      const things = await users();
      await things.archive('ada');
      const error = await rejection(things.insert({ email: 'ada@x' }));
      expectViolation(error, 'ada@x', 'ada');
      expect(error.message).toContain('"ada" (archived).');
      await things.unarchive('ada');
      expect(idsOf(await things.filter({ email: 'ada@x' }))).toEqual(['ada']);
    });

    test('ignore null, undefined and missing values', async () => {
      const things = fixture.documents({
        indexes: [...EMAIL, { fields: ['a', 'b'], unique: true }],
      });
      await things.insertMany([{}, {}, { email: null }, { email: null }, { email: undefined }]);
      await things.insertMany([{ a: 1 }, { a: 1 }, { b: 1, a: null }, { b: 1 }, { a: 1, b: 1 }]);
      const other = await things.find({ a: 1, b: 1 });
      const error = await rejection(things.insert({ b: 1, a: 1 }));
      expectViolation(error, [1, 1], other?._id as string, 'a,b');
      await things.insert({ a: 1, b: 2 });
      expect(await things.count()).toBe(11);
    });

    test('compare several fields, items, dates and equal numbers of different types', async () => {
      const things = fixture.documents({
        indexes: [
          { fields: 'tags', unique: true, multi: true },
          { fields: 'deep.at', unique: true },
          { fields: 'n', unique: true },
        ],
      });
      const at = new Date(86_400_000);
      await things.insert({ _id: 'a', tags: ['x', 'y', 'x'], deep: { at }, n: 5 });
      for (const [document, value, index] of [
        [{ tags: ['z', 'y', 'a'] }, 'y', 'tags'],
        [{ tags: 'x' }, 'x', 'tags'],
        [{ deep: { at: new Date(at) } }, at, 'deep.at'],
      ] as const) {
        const error = await rejection(things.insert(document));
        expectViolation(error, value, 'a', index);
        expect(error.message).not.toContain('"z"');
      }
      expect((await rejection(things.insert({ n: 5n }))).code).toBe('unique_violation');
      await things.insert({ tags: ['z'], deep: { at: 86_400_000 }, n: '5' });
      expect(await things.count()).toBe(2);
    });

    test('ignore RegExp, binary and other values that no index compares', async () => {
      const things = fixture.documents({ indexes: EMAIL });
      for (const email of [/x/, new Uint8Array([1]), new Map(), { at: 'x' }, ['a@x']]) {
        await things.insertMany([{ email }, { email }]);
      }
      expect(await things.count()).toBe(10);
    });

    test('compare the other items of an array with a RegExp', async () => {
      const indexes: IndexOption[] = [{ fields: 'tags', unique: true, multi: true }];
      const things = fixture.documents({ indexes });
      await things.insert({ _id: 'a', tags: ['x', /pattern/, 'y'] });
      await things.insert({ _id: 'b', tags: [/pattern/, new Uint8Array(1), 'z'] });
      const tagsOf = 'tags';
      for (const tags of ['y', ['w', 'y'], [/pattern/, 'y']]) {
        expectViolation(await rejection(things.insert({ tags })), 'y', 'a', tagsOf);
      }
      expectViolation(await rejection(things.patch('b', { 'tags.2': 'x' })), 'x', 'a', tagsOf);
      await things.save();
      await fixture.reopen();
      const again = fixture.documents({ indexes });
      expectViolation(await rejection(again.insert({ tags: 'x' })), 'x', 'a', tagsOf);
      expect(idsOf(await again.filter({ tags: 'y' }))).toEqual(['a']);
      expect(idsOf(await again.filter({ tags: { $in: [/pattern/] } }))).toEqual(['a', 'b']);
      await again.delete('a');
      await again.insert({ _id: 'c', tags: ['x', 'y'] });
      expect(idsOf(await again.filter({ tags: 'y' }))).toEqual(['c']);
    });

    test('decide concurrent calls by their order', async () => {
      const things = await users();
      const results = await Promise.allSettled([
        things.insert({ _id: 'one', email: 'e' }),
        things.insert({ _id: 'two', email: 'e' }),
        things.delete('one'),
        things.insert({ _id: 'three', email: 'e' }),
        things.patch('ada', { email: 'e' }),
      ]);
      const kept = results.map(({ status }) => status === 'fulfilled');
      expect(kept).toEqual([true, false, true, true, false]);
      expect(idsOf(await things.filter({ email: 'e' }))).toEqual(['three']);
    });

    test('declared over duplicates make every call reject, and lose nothing', async () => {
      const documents = [
        { _id: 'a', email: 'same' },
        { _id: 'b', email: 'own' },
        { _id: 'c', email: 'same' },
      ];
      // Also if a plain index over the same fields exists.
      for (const indexes of [undefined, ['email']]) {
        const before = fixture.documents({ indexes });

        for (const document of documents) await before.upsert(document);
        await before.archive('c');
        await fixture.reopen();
        const broken = fixture.documents({ indexes: EMAIL });
        for (const call of [broken.ready, broken.count(), broken.insert({}), broken.get('a')]) {
          const error = await rejection(call);
          expect(error).toMatchObject({ code: 'unique_violation', place: 'email' });
          expect(error.message).toContain('"c" (archived)');
        }
        // In the same client, and after a reload.
        for (let round = 0; round < 2; round++) {
          const things = fixture.documents({ indexes });
          expect(idsOf(await things.filter({}, { archived: true }))).toEqual(['a', 'b', 'c']);
          await fixture.reopen();
        }
      }
      await fixture.documents().delete('c');
      await fixture.reopen();
      const mended = fixture.documents({ indexes: EMAIL });
      expect(await mended.count({ email: 'same' })).toBe(1);
      expect((await rejection(mended.insert({ email: 'own' }))).code).toBe('unique_violation');
    });
  });
}
