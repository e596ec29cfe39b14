import { describe, expect, test } from 'vitest';
import type { DocumentCollection, IndexOption, Params } from '../../src/index.ts';
import type { ClientFixture } from './client-fixture.ts';
import { EventLog, idsOf, rejection } from './outcomes.ts';

const planOf = async (collection: DocumentCollection, params: Params) => {
  const { plan } = await collection.explain(params);
  return plan.kind === 'index' ? plan.index : plan.kind;
};

/** Handles to one collection that declare different indexes. */
export function indexDeclarationsSuite(fixture: ClientFixture): void {
  describe('indexes declared by several handles', () => {
    const filled = async (indexes: IndexOption[] = ['age']) => {
      const old = fixture.documents({ indexes });
      await old.insertMany([
        { _id: 'a', age: 1, tags: ['x', 'y'], email: 'a@x' },
        { _id: 'b', age: 2, tags: ['y'], email: 'b@x' },
        { _id: 'c', age: 1, tags: 'x', email: 'a@x' },
      ]);
      return old;
    };

    test.each([['with saved documents'], ['with unsaved documents']])(
      'of a second handle serve both handles, %s',
      async (when) => {
        const old = await filled();
        if (when === 'with saved documents') await old.save();
        const log = new EventLog(old, 'index');
        const next = fixture.documents({ indexes: ['age', 'email'] });
        expect(idsOf(await next.filter({ email: 'a@x' }))).toEqual(['a', 'c']);
        await log.until((events) => events.at(-1)?.documents === 3);
        for (const handle of [old, next]) {
          expect(await planOf(handle, { email: 'a@x' })).toBe('email');
          expect(await planOf(handle, { age: 1 })).toBe('age');
        }
        await old.patch('b', { email: 'a@x' });
        await old.insert({ _id: 'd', email: 'a@x' });
        await old.delete('c');
        expect(idsOf(await next.filter({ email: 'a@x' }))).toEqual(['a', 'b', 'd']);
        await fixture.reopen();
        const later = fixture.documents({ indexes: ['email'] });
        expect(await planOf(later, { age: 1 })).toBe('scan');
        expect(idsOf(await later.filter({ email: 'a@x' }))).toEqual(['a', 'b', 'd']);
      },
    );

    test('serve a handle that declares fewer or none', async () => {
      await filled(['age', 'email']);
      for (const indexes of [['age'], []]) {
        const fewer = fixture.documents({ indexes });
        expect(await planOf(fewer, { email: 'a@x' })).toBe('email');
        expect(await planOf(fewer, { age: 1 })).toBe('age');
      }
    });

    test('are built while other handles read and write', async () => {
      const old = fixture.documents();
      const pad = 'x'.repeat(100);
      await old.insertMany(Array.from({ length: 3000 }, (_, n) => ({ _id: `${n}`, n, pad })));
      const next = fixture.documents({ indexes: ['n'] });
      const opened = next.ready;
      await Promise.all([
        old.update('5', { n: -5, pad }),
        old.insert({ _id: 'new', n: -5 }),
        old.delete('6'),
        old.deleteMany({ n: 7 }),
      ]);
      await opened;
      expect(await planOf(next, { n: -5 })).toBe('n');
      expect(idsOf(await next.filter({ n: -5 }))).toEqual(['5', 'new']);
      expect(await next.count({ n: { $in: [5, 6, 7, 8] } })).toBe(1);
    });

    test('that are unique and violated make only the declaring handle fail', async () => {
      const old = await filled();
      const broken = fixture.documents({ indexes: ['age', { fields: 'email', unique: true }] });
      for (const call of [broken.ready, broken.count(), broken.insert({}), broken.get('a')]) {
        const error = await rejection(call);
        expect(error instanceof fixture.lib.ValueError).toBe(true);
        expect(error).toMatchObject({ code: 'unique_violation', place: 'email' });
        for (const part of ['"email"', '"a@x"', '"a"', '"c"'])
          expect(error.message).toContain(part);
      }
      expect(await rejection(broken.count())).toMatchObject({ code: 'unique_violation' });
      expect(await planOf(old, { email: 'a@x' })).toBe('scan');
      await old.insert({ _id: 'd', email: 'a@x' });
      expect(await old.count({ email: 'a@x' })).toBe(3);
      await old.deleteMany({ _id: { $in: ['c', 'd'] } });
      const mended = fixture.documents({ indexes: [{ fields: 'email', unique: true }] });
      expect(await mended.count({ email: 'a@x' })).toBe(1);
      expect((await rejection(old.insert({ email: 'a@x' }))).code).toBe('unique_violation');
    });

    test('a live query of a handle with a violated unique index shows the error', async () => {
      await filled();
      const broken = fixture.documents({ indexes: [{ fields: 'email', unique: true }] });
      const live = broken.live({});
      expect(await rejection(live.ready)).toMatchObject({ code: 'unique_violation' });
      expect(live.getSnapshot().status).toBe('error');
    });

    test('a unique index replaces a plain one over the same field, unless it is violated', async () => {
      const old = await filled(['email']);
      const unique: IndexOption[] = [{ fields: 'email', unique: true }];
      expect((await rejection(fixture.documents({ indexes: unique }).ready)).code).toBe(
        'unique_violation',
      );
      expect(await planOf(old, { email: 'b@x' })).toBe('email');
      await old.delete('c');
      const next = fixture.documents({ indexes: unique });
      await next.ready;
      expect(await planOf(old, { email: 'b@x' })).toBe('email');
      expect((await rejection(old.insert({ email: 'b@x' }))).code).toBe('unique_violation');
      expect(await next.count()).toBe(2);
    });

    test('an index of whole values and a multi index of the same field coexist', async () => {
      const old = await filled(['tags']);
      const next = fixture.documents({ indexes: [{ fields: 'tags', multi: true }] });
      expect(idsOf(await next.filter({ tags: 'x' }))).toEqual(['a', 'c']);
      await old.insert({ _id: 'd', tags: ['z', 'x'] });
      expect(idsOf(await old.filter({ tags: 'x' }))).toEqual(['a', 'c', 'd']);
      expect(idsOf(await next.filter({ tags: { $in: ['z', 'y'] } }))).toEqual(['a', 'b', 'd']);
    });

    test('two handles opened together both get their indexes', async () => {
      await filled([]);
      const handles = ['age', 'email'].map((field) => fixture.documents({ indexes: [field] }));
      await Promise.all(handles.map(({ ready }) => ready));
      for (const handle of handles) {
        expect(await planOf(handle, { age: 2 })).toBe('age');
        expect(await planOf(handle, { email: 'b@x' })).toBe('email');
      }
    });

    test('a restored backup has the indexes of all handles', async () => {
      const old = await filled();
      const backup = await old.createBackup();
      const next = fixture.documents({ indexes: ['email'] });
      await next.ready;
      await old.deleteMany({});
      await old.loadBackup(backup);
      expect(await planOf(next, { email: 'b@x' })).toBe('email');
      expect(await planOf(next, { age: 2 })).toBe('age');
      expect(idsOf(await next.filter({ email: 'a@x' }))).toEqual(['a', 'c']);
    });
  });
}
