import { describe, expect, test } from 'vitest';
import type { DoorFixture } from './door-fixture.ts';
import { rejection, thrown } from './outcomes.ts';

/** A way to make a collection of either type, with a call of it. */
type Maker = (
  door: DoorFixture,
  name: string,
) => { ready: Promise<void>; count(): Promise<number> };
const documents: Maker = (door, name) => door.documents({ name });
const keyValues: Maker = (door, name) => door.keyValues({ name });

/** Opening, reopening with another type, closing, names. */
export function lifecycleSuite(door: DoorFixture): void {
  describe('opening', () => {
    test('ready resolves, as often as it is asked for', async () => {
      const things = door.documents();
      expect(await things.ready).toBe(undefined);
      expect(await things.ready).toBe(undefined);
      expect(await door.db.ready).toBe(undefined);
    });

    test('constructing a collection that exists opens it', async () => {
      const things = door.documents<{ n: number }>({ name: 'a' });
      await things.insert({ n: 1 });
      const again = door.documents<{ n: number }>({ name: 'a' });
      expect(await again.find({})).toMatchObject({ n: 1 });
    });

    for (const [first, second] of [
      [documents, keyValues],
      [keyValues, documents],
    ] as const) {
      test('another type throws where the type is known', async () => {
        const made = first(door, 'a');
        await made.ready;
        const error = thrown(() => second(door, 'a'));
        expect(error instanceof door.lib.CollectionError).toBe(true);
        expect(error).toMatchObject({ code: 'type_mismatch', place: door.nameOf('a') });
        expect(await made.count()).toBe(0);
      });

      test('another type rejects ready and every call where it is not known yet', async () => {
        await first(door, 'a').ready;
        await door.reopen();
        const wrong = second(door, 'a');
        const error = await rejection(wrong.ready);
        expect(error instanceof door.lib.CollectionError).toBe(true);
        expect(error).toMatchObject({ code: 'type_mismatch', place: door.nameOf('a') });
        expect(error.message.includes(door.nameOf('a'))).toBe(true);
        for (const call of [() => wrong.count(), () => wrong.ready]) {
          expect(await rejection(call())).toMatchObject({
            code: error.code,
            message: error.message,
          });
        }
        expect(await first(door, 'a').count()).toBe(0);
        await rejection(wrong.count());
      });

      test('another type in the same moment rejects too', async () => {
        const made = first(door, 'a');
        let wrong: ReturnType<Maker> | undefined;
        try {
          wrong = second(door, 'a');
        } catch (error) {
          expect(error).toMatchObject({ code: 'type_mismatch' });
        }
        if (wrong) expect(await rejection(wrong.count())).toMatchObject({ code: 'type_mismatch' });
        expect(await made.count()).toBe(0);
      });
    }

    test('a bad handle does not get in the way of closing', async () => {
      await door.documents({ name: 'a' }).insert({});
      await door.reopen();
      const wrong = door.keyValues({ name: 'a' });
      await rejection(wrong.set('k', 1));
      await door.reopen();
      expect(await door.documents({ name: 'a' }).count()).toBe(1);
    });
  });

  describe('close', () => {
    test('saves what is not saved yet', async () => {
      const things = door.documents({ save_timeout: 3600, save_directly_after: 1000 });
      await things.insertMany([{}, {}]);
      const values = door.keyValues({ save_timeout: 3600 });
      void values.set('a', 1);
      await door.reopen();
      expect(await door.documents().count()).toBe(2);
      expect(await door.keyValues().get('a')).toBe(1);
    });

    test('what was called before it takes effect, however long it is', async () => {
      const things = door.documents({ save_timeout: 3600, save_directly_after: 100_000 });
      const text = 'x'.repeat(2000);
      const inserting = things.insertMany(Array.from({ length: 1500 }, (_, n) => ({ n, text })));
      const deleting = things.deleteMany(({ n }) => n === 0);
      await door.reopen();
      expect((await inserting).length).toBe(1500);
      expect(await deleting).toBe(1);
      expect(await door.documents().count()).toBe(1499);
    });

    test('later calls reject', async () => {
      const { db } = door;
      const things = door.documents();
      const values = door.keyValues();
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
        expect(error instanceof door.lib.CollectionError).toBe(true);
        expect(error.code).toBe('closed');
      }
      expect(db.status.state).toBe('closed');
    });

    test('calls made while it closes reject; what was called before goes on to its end', async () => {
      const things = door.documents();
      await things.insert({});
      const before = things.insertMany([{ _id: 'before' }]);
      const closing = door.db.close();
      await expect(things.insert({ _id: 'late' })).rejects.toMatchObject({ code: 'closed' });
      await expect(things.insertMany([{}])).rejects.toMatchObject({ code: 'closed' });
      await closing;
      expect((await before).length).toBe(1);
      await door.reopen();
      expect(await door.documents().get('late')).toBe(undefined);
      expect(await door.documents().count()).toBe(2);
    });

    test('nothing counts as unsaved after it', async () => {
      const { db } = door;
      const things = door.documents({ save_timeout: 99, save_directly_after: 99 });
      await things.insert({});
      await db.close();
      expect(db.status).toMatchObject({ state: 'closed', leader: false, unsaved: 0 });
      expect(db.status.unsaved_since).toBe(undefined);
    });

    test('bad options are refused after it as before', async () => {
      await door.db.close();
      expect(thrown(() => door.documents({ id_length: 1 })).code).toBe('option_invalid');
    });

    test('may be called again, and before anything was done', async () => {
      const { db } = door;
      await db.close();
      await db.close();
      expect(db.status.state).toBe('closed');
      expect((await rejection(door.documents().count())).code).toBe('closed');
      await door.reopen();
      await Promise.all([door.db.close(), door.db.close()]);
      expect(door.db.status.state).toBe('closed');
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

    test('may hold any characters, and stay apart', async () => {
      await door.renew();
      const open = (name: string) => new door.db.Collection({ name, type: 'DOCUMENT_BASED' });
      for (const name of NAMES) await open(name).insert({ name });
      await door.reopen();
      for (const name of NAMES) {
        const things = open(name);
        expect((await things.filter({})).map((document) => document.name)).toEqual([name]);
      }
    });

    test('are made well-formed', async () => {
      const things = door.documents({ name: 'a\ud800b' });
      await things.insert({ n: 1 });
      expect(things.name).toBe(door.nameOf('a\ufffdb'));
      await door.reopen();
      expect(await door.documents({ name: 'a\ud800b' }).count()).toBe(1);
    });

    test('of databases too', async () => {
      for (const part of ['\ud800', '😀/..\\', '__proto__', '\u0000']) {
        const name = `${part} ${Math.random()}`;
        for (const count of [1, 2]) {
          const db = door.kind.make(name);
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
