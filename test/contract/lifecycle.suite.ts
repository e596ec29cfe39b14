import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { rejection, thrown } from './outcomes.ts';

/** Ways to construct a collection of either type, with one call. */
type Maker = (
  fixture: ClientFixture,
  name: string,
) => { ready: Promise<void>; count(): Promise<number> };
const documents: Maker = (fixture, name) => fixture.documents({ name });
const keyValues: Maker = (fixture, name) => fixture.keyValues({ name });

/** Opening, reopening with another type, closing, names. */
export function lifecycleSuite(fixture: ClientFixture): void {
  describe('opening', () => {
    test('ready resolves on every access', async () => {
      const things = fixture.documents();
      expect(await things.ready).toBe(undefined);
      expect(await things.ready).toBe(undefined);
      expect(await fixture.db.ready).toBe(undefined);
    });

    test('constructing a collection that exists opens it', async () => {
      const things = fixture.documents<{ n: number }>({ name: 'a' });
      await things.insert({ n: 1 });
      const again = fixture.documents<{ n: number }>({ name: 'a' });
      expect(await again.find({})).toMatchObject({ n: 1 });
    });

    for (const [first, second] of [
      [documents, keyValues],
      [keyValues, documents],
    ] as const) {
      test('another type throws if the type is known already', async () => {
        const made = first(fixture, 'a');
        await made.ready;
        const error = thrown(() => second(fixture, 'a'));
        expect(error instanceof fixture.lib.CollectionError).toBe(true);
        expect(error).toMatchObject({ code: 'type_mismatch', place: fixture.nameOf('a') });
        expect(await made.count()).toBe(0);
      });

      test('another type rejects ready and every call if the type is not known yet', async () => {
        await first(fixture, 'a').ready;
        await fixture.reopen();
        const wrong = second(fixture, 'a');
        const error = await rejection(wrong.ready);
        expect(error instanceof fixture.lib.CollectionError).toBe(true);
        expect(error).toMatchObject({ code: 'type_mismatch', place: fixture.nameOf('a') });
        expect(error.message.includes(fixture.nameOf('a'))).toBe(true);
        for (const call of [() => wrong.count(), () => wrong.ready]) {
          expect(await rejection(call())).toMatchObject({
            code: error.code,
            message: error.message,
          });
        }
        expect(await first(fixture, 'a').count()).toBe(0);
        await rejection(wrong.count());
      });

      test('another type at the same time rejects, too', async () => {
        const made = first(fixture, 'a');
        const wrong = second(fixture, 'a');
        expect(await rejection(wrong.count())).toMatchObject({ code: 'type_mismatch' });
        expect(await made.count()).toBe(0);
      });
    }

    test('a handle that failed to open does not block close()', async () => {
      await fixture.documents({ name: 'a' }).insert({});
      await fixture.reopen();
      const wrong = fixture.keyValues({ name: 'a' });
      await rejection(wrong.set('k', 1));
      await fixture.reopen();
      expect(await fixture.documents({ name: 'a' }).count()).toBe(1);
    });
  });

  describe('close', () => {
    test('saves unsaved changes', async () => {
      const things = fixture.documents({ save_timeout: 3600, save_directly_after: 1000 });
      await things.insertMany([{}, {}]);
      const values = fixture.keyValues({ save_timeout: 3600 });
      void values.set('a', 1);
      await fixture.reopen();
      expect(await fixture.documents().count()).toBe(2);
      expect(await fixture.keyValues().get('a')).toBe(1);
    });

    test('waits for earlier calls, however long they are', async () => {
      const things = fixture.documents({ save_timeout: 3600, save_directly_after: 100_000 });
      const text = 'x'.repeat(2000);
      const inserting = things.insertMany(Array.from({ length: 1500 }, (_, n) => ({ n, text })));
      const deleting = things.deleteMany(({ n }) => n === 0);
      await fixture.reopen();
      expect((await inserting).length).toBe(1500);
      expect(await deleting).toBe(1);
      expect(await fixture.documents().count()).toBe(1499);
    });

    test('rejects later calls', async () => {
      const { db } = fixture;
      const things = fixture.documents();
      const values = fixture.keyValues();
      await things.insert({});
      await db.close();
      for (const call of [
        () => things.insert({}),
        () => things.insertMany([{}]),
        () => things.get('a'),
        () => things.find({}),
        () => things.filter(() => true),
        () => things.deleteMany(() => true),
        () => things.save(),
        () => things.ready,
        () => values.set('a', 1),
        () => values.remove('a', () => true),
        () => values.keys(),
        () => db.save(),
        () => db.ready,
        () => new db.Collection({ name: 'new', type: 'DOCUMENT_BASED' }).count(),
      ]) {
        const error = await rejection(call());
        expect(error instanceof fixture.lib.CollectionError).toBe(true);
        expect(error.code).toBe('closed');
      }
      expect(db.status.state).toBe('closed');
    });

    test('rejects calls made meanwhile, and completes earlier ones', async () => {
      const things = fixture.documents();
      await things.insert({});
      const before = things.insertMany([{ _id: 'before' }]);
      const closing = fixture.db.close();
      await expect(things.insert({ _id: 'late' })).rejects.toMatchObject({ code: 'closed' });
      await expect(things.insertMany([{}])).rejects.toMatchObject({ code: 'closed' });
      await closing;
      expect((await before).length).toBe(1);
      await fixture.reopen();
      expect(await fixture.documents().get('late')).toBe(undefined);
      expect(await fixture.documents().count()).toBe(2);
    });

    test('leaves no unsaved changes in the status', async () => {
      const { db } = fixture;
      const things = fixture.documents({ save_timeout: 99, save_directly_after: 99 });
      await things.insert({});
      await db.close();
      expect(db.status).toMatchObject({ state: 'closed', leader: false, unsaved: 0 });
      expect(db.status.unsaved_since).toBe(undefined);
    });

    test('afterwards, bad options are still refused', async () => {
      await fixture.db.close();
      expect(thrown(() => fixture.documents({ id_length: 1 })).code).toBe('option_invalid');
    });

    test('may be called again, and before any other call', async () => {
      const { db } = fixture;
      await db.close();
      await db.close();
      expect(db.status.state).toBe('closed');
      expect((await rejection(fixture.documents().count())).code).toBe('closed');
      await fixture.reopen();
      await Promise.all([fixture.db.close(), fixture.db.close()]);
      expect(fixture.db.status.state).toBe('closed');
    });

    test('before any other call starts no engine later', async () => {
      const db = await fixture.renew();
      await db.close();
      new db.Collection({ name: 'a', type: 'DOCUMENT_BASED' });
      expect((await rejection(db.ready)).code).toBe('closed');
      expect(db.status.state).toBe('closed');
    });
  });

  describe('names', () => {
    const NAMES = [
      'a',
      'A',
      'a/b',
      'a\\b',
      '../a',
      ' ',
      'a ',
      '\u0000',
      'é',
      'e\u0301',
      '漢字',
      '😀',
      '__proto__',
      'constructor',
      'segments',
      '[1]',
      '"',
      '\u{1F600}'.repeat(64),
      'x'.repeat(128),
    ];

    test('may have any characters, and stay distinct', async () => {
      await fixture.renew();
      const open = (name: string) => new fixture.db.Collection({ name, type: 'DOCUMENT_BASED' });
      for (const name of NAMES) await open(name).insert({ name });
      await fixture.reopen();
      for (const name of NAMES) {
        const things = open(name);
        expect((await things.filter({})).map((document) => document.name)).toEqual([name]);
      }
    });

    test('are made well-formed', async () => {
      const things = fixture.documents({ name: 'a\ud800b' });
      await things.insert({ n: 1 });
      expect(things.name).toBe(fixture.nameOf('a\ufffdb'));
      await fixture.reopen();
      expect(await fixture.documents({ name: 'a\ud800b' }).count()).toBe(1);
    });

    test('of databases may have any characters, too', async () => {
      for (const part of ['\ud800', '😀/..\\', '__proto__', '\u0000']) {
        const name = `${part} ${Math.random()}`;
        for (const count of [1, 2]) {
          const db = fixture.kind.make(name);
          expect(db.name).toBe(name.toWellFormed());
          const things = new db.Collection({ name: 'a', type: 'DOCUMENT_BASED' });
          await things.insert({});
          expect(await things.count()).toBe(count);
          await db.close();
        }
      }
    });
  });
}
