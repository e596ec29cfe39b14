import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { rejection, thrown } from './outcomes.ts';

/** collection.sync: the same methods without promises. */
export function syncSuite(fixture: ClientFixture): void {
  describe('sync', () => {
    const hasSync = fixture.caching && fixture.kind.engine === 'thread';

    test('throws sync_unavailable with the reason if it cannot be used', async () => {
      const uncached = fixture.documents({ caching: false });
      const cached = fixture.documents({ name: 'cached', caching: true });
      const early = thrown(() => cached.sync);
      await Promise.all([uncached.ready, cached.ready]);
      const errors = [early, thrown(() => uncached.sync)];
      if (fixture.kind.engine === 'worker') errors.push(thrown(() => cached.sync));
      for (const error of errors) {
        expect(error instanceof fixture.lib.CollectionError).toBe(true);
        expect(error.code).toBe('sync_unavailable');
      }
      expect(errors.map(({ place }) => place)).toEqual([
        cached.name,
        uncached.name,
        ...errors.slice(2).map(() => cached.name),
      ]);
      expect(errors[1]?.message.includes('caching')).toBe(true);
      if (fixture.kind.engine === 'thread') {
        expect(early.message.includes('ready')).toBe(true);
        expect(cached.sync.count()).toBe(0);
      }
    });

    if (!hasSync) return;

    test('refuses to overtake a call in flight', async () => {
      const things = fixture.documents();
      await things.ready;
      const inserted = things.insertMany([{}, {}]);
      expect(thrown(() => things.sync.count())).toMatchObject({
        code: 'sync_unavailable',
        place: things.name,
      });
      await inserted;
      expect(things.sync.count()).toBe(2);
    });

    test('a sort by a field is no criterion for a field with a sign before its name', async () => {
      const things = fixture.documents();
      await things.ready;
      const { sync } = things;
      sync.insertMany([
        { _id: 'a', n: 2, '+n': 1 },
        { _id: 'b', n: 1, '+n': 2, '-n': 1 },
      ]);
      expect(sync.filter({ '+n': 2 }).map(({ _id }) => _id)).toEqual(['b']);
      expect(sync.filter({}, { sort: { n: 1 } }).map(({ _id }) => _id)).toEqual(['b', 'a']);
      expect(sync.filter({}, { sort: { n: -1 } }).map(({ _id }) => _id)).toEqual(['a', 'b']);
      expect(sync.filter({ '-n': 1 }).map(({ _id }) => _id)).toEqual(['b']);
    });

    test('criteria are checked, whichever were read before', async () => {
      for (const indexes of [[], ['a']]) {
        const things = fixture.documents({ name: `indexes ${indexes}`, indexes });
        await things.ready;
        const { sync } = things;
        sync.insertMany([
          { a: 2, b: 2 },
          { a: 3, b: 3 },
        ]);
        const right = [{ a: { $gt: 1 }, b: 2 }, { a: { $gt: 1, $lt: 5 } }, { a: { $gt: 1 } }];
        expect(right.map((params) => sync.filter(params).length)).toEqual([1, 2, 2]);
        for (const params of [{ a: { $gt: 1, b: 2 } }, { a: { $gt: 1 }, $lt: 5 }] as never[]) {
          const { code, message } = await rejection(things.filter(params));
          for (let calls = 0; calls < 2; calls++)
            expect(thrown(() => sync.filter(params))).toMatchObject({ code, message });
        }
      }
    });

    test('names the collection in errors of criteria', async () => {
      const things = fixture.documents();
      await things.ready;
      things.sync.insert({});
      const named = `Collection "${things.name}": `;
      expect(thrown(() => things.sync.find(5 as never)).message).toContain(named);
      expect(thrown(() => things.sync.find(async () => true)).message).toContain(named);
    });

    test('has every method of documents', async () => {
      const things = fixture.documents<{ n: number }>();
      await things.ready;
      const { sync } = things;
      const a = sync.insert({ _id: 'a', n: 1 });
      expect(a).toEqual({ _id: 'a', _updated: false, _archived: false, n: 1 });
      expect(sync.insertMany([{ n: 2 }, { n: 3 }]).map(({ n }) => n)).toEqual([2, 3]);
      expect(sync.get('a')).toEqual(a);
      expect(sync.find({ n: 2 })?.n).toBe(2);
      expect(sync.find(({ n }) => n > 2)?.n).toBe(3);
      expect(sync.filter({ n: { $gt: 1 } }).length).toBe(2);
      expect(sync.filter(({ n }) => n > 1).length).toBe(2);
      expect(sync.has({ n: 3 })).toBe(true);
      expect(sync.has(({ n }) => n > 3)).toBe(false);
      expect(sync.count()).toBe(3);
      expect(sync.update('a', { n: 9 })).toMatchObject({ _updated: true, n: 9 });
      expect(sync.patch('a', { n: 8 })).toMatchObject({ n: 8 });
      expect(sync.upsert({ _id: 'a', n: 7 })).toMatchObject({ n: 7 });
      expect(sync.archive('a')).toBe(true);
      expect(sync.find({ n: 7 })).toBe(undefined);
      expect(sync.find({ n: 7 }, { archived: 'only' })?._id).toBe('a');
      expect(sync.unarchive('a')).toBe(true);
      expect(sync.delete('a')).toBe(true);
      expect(sync.deleteMany({ n: 2 })).toBe(1);
      expect(sync.deleteMany(() => true)).toBe(1);
      expect(sync.count()).toBe(0);
    });

    test('has every method of key-values', async () => {
      const values = fixture.keyValues();
      await values.ready;
      const { sync } = values;
      expect(sync.set('a.b', 1)).toBe(1);
      expect(sync.get('a')).toEqual({ b: 1 });
      expect(sync.has('a.b')).toBe(true);
      expect(sync.has('a.c')).toBe(false);
      expect(sync.increase('a.b', 2)).toBe(3);
      expect(sync.decrease('a.b', 1)).toBe(2);
      expect(sync.push('list', 'x')).toEqual(['x']);
      expect(sync.push('list', 'y')).toEqual(['x', 'y']);
      expect(sync.has('list', 'y')).toBe(true);
      expect(sync.find('list', (item) => item === 'y')).toBe('y');
      expect(sync.filter('list', 'x')).toEqual(['x']);
      expect(sync.remove('list', 'x')).toEqual(['y']);
      expect(sync.remove('list', () => true)).toEqual([]);
      expect(sync.keys()).toEqual(['a', 'list']);
      expect(sync.entries()).toEqual([
        ['a', { b: 2 }],
        ['list', []],
      ]);
      expect(sync.count()).toBe(2);
      expect(sync.delete('a')).toBe(true);
    });

    test('throws the same errors as the methods with promises', async () => {
      const things = fixture.documents();
      await things.ready;
      things.sync.insert({ _id: 'a' });
      const { ValueError, CriteriaError } = fixture.lib;
      const taken = thrown(() => things.sync.insert({ _id: 'a' }));
      expect(taken instanceof ValueError && taken.code === 'id_taken').toBe(true);
      const bad = thrown(() => things.sync.insert({ f: () => 1 }));
      expect(bad).toMatchObject({ code: 'value_unsupported', place: 'document.f' });
      const wrong = thrown(() => things.sync.find({ n: { $gtt: 1 } }));
      expect(wrong instanceof CriteriaError).toBe(true);
      expect(things.sync.count()).toBe(1);
    });

    test('returns a copy on every read', async () => {
      type Thing = { n: number; at: Date | string; deep: { list: { n: number }[] }[] };
      const things = fixture.documents<Thing>({ indexes: ['n'] });
      await things.ready;
      const deep = [{ list: [{ n: 1 }] }];
      const made = [
        { _id: 'plain', n: 1, at: 'now', deep },
        { _id: 'exact', n: 1, at: new Date(5), deep },
      ];
      await things.insertMany(made);
      const { sync } = things;
      const read = (): Thing[] => [
        ...made.map(({ _id }) => sync.get(_id) as Thing),
        ...sync.filter({ n: 1 }),
        ...sync.filter({ 'deep.list.n': 1 }),
        ...sync.filter((thing) => thing.n === 1),
        ...sync.filter({}, { sort: { n: 1 }, limit: 2 }),
      ];
      const whole = read();
      const stored = made.map((given) => expect.objectContaining(given));
      expect(whole).toEqual(Array(5).fill(stored).flat());
      const first = read();
      for (const thing of first) {
        thing.deep[0]?.list.push({ n: 2 });
        Object.assign(thing.deep[0]?.list[0] as object, { n: 3 });
        if (thing.at instanceof Date) thing.at.setTime(6);
        thing.n = 9;
      }
      expect(read()).toEqual(whole);
      expect(await things.filter({ n: 1 })).toEqual(sync.filter({ n: 1 }));
    });

    test('sees earlier calls, and later calls see its changes', async () => {
      const things = fixture.documents<{ n: number }>();
      await things.ready;
      const inserting = things.insert({ _id: 'a', n: 1 });
      expect(things.sync.get('a')?.n).toBe(1);
      things.sync.update('a', { n: 2 });
      expect((await things.get('a'))?.n).toBe(2);
      expect((await inserting).n).toBe(1);
    });

    test('is saved like other changes', async () => {
      const things = fixture.documents();
      await things.ready;
      things.sync.insert({ _id: 'a' });
      await fixture.reopen();
      const again = fixture.documents();
      await again.ready;
      expect(again.sync.get('a')?._id).toBe('a');
    });

    test('throws after close', async () => {
      const things = fixture.documents();
      await things.ready;
      const { sync } = things;
      await fixture.db.close();
      expect(thrown(() => sync.count()).code).toBe('closed');
      expect(thrown(() => sync.insert({})).code).toBe('closed');
    });
  });
}
