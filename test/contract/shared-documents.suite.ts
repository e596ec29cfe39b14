import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { LiveLog } from './live-log.ts';
import { thrown } from './outcomes.ts';

interface Thing {
  n: number;
  tags: string[];
  inner: { list: { deep: boolean }[] };
}

const thing = (n: number): Thing => ({ n, tags: ['a'], inner: { list: [{ deep: true }] } });

function isDeeplyFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen);
}

/**
 * The option `shared_documents`: reads return frozen documents, the same object until the document
 * changes.
 */
export function sharedDocumentsSuite(fixture: ClientFixture): void {
  describe('shared documents', () => {
    const open = () => fixture.documents<Thing>({ shared_documents: true, indexes: ['n'] });

    test('every read returns the same frozen object', async () => {
      const things = open();
      const { _id } = await things.insert(thing(1));
      await things.insert(thing(2));
      const first = await things.get(_id);
      expect(first).toEqual({ _id, _updated: false, _archived: false, ...thing(1) });
      expect(isDeeplyFrozen(first)).toBe(true);
      const reads = [
        await things.get(_id),
        (await things.getMany(['none', _id]))[1],
        await things.find({ n: 1 }),
        await things.find({ 'inner.list.deep': true }, { sort: { n: 1 } }),
        await things.find((each) => each.n === 1),
        ...(await things.filter({ n: { $lt: 2 } })),
        ...(await things.filter({}, { where: (each) => each.n === 1 })),
        (await things.filter({}, { limit: 1 }))[0],
      ];
      for await (const each of things.each({ n: 1 })) reads.push(each);
      const live = new LiveLog(things.live({ n: 1 }));
      reads.push((await live.until(() => true))[0]);
      live.stop();
      const item = new LiveLog(things.liveDocument(_id));
      reads.push(await item.until(() => true));
      item.stop();
      expect(reads.map((read) => read === first)).toEqual(reads.map(() => true));
      expect(await things.get('none')).toBe(undefined);
    });

    test('a live query that came first decides', async () => {
      const things = open();
      const { _id } = await things.insert(thing(1));
      const live = new LiveLog(things.live({}));
      const [shown] = await live.until(() => true);
      expect((await things.get(_id)) === shown).toBe(true);
      expect((await things.find({ n: 1 })) === shown).toBe(true);
      live.stop();
    });

    test('a change makes a new object, for live queries too', async () => {
      const things = open();
      const [one, two] = (await things.insertMany([thing(1), thing(2)])).map(({ _id }) => _id);
      const live = new LiveLog(things.live({}));
      await live.until((data) => data.length === 2);
      const before = await things.filter({});
      for (const change of [
        () => things.patch(one as string, { n: 5 }),
        () => things.update(one as string, thing(6)),
        () => things.archive(one as string),
        () => things.unarchive(one as string),
        () => things.upsert({ _id: one as string, ...thing(7) }),
        () => things.modify(one as string, (each) => ({ ...each, n: 8 })),
        () => things.patchMany({ _id: one as string }, { $inc: { n: 1 } }),
      ]) {
        const old = await things.get(one as string);
        const copy = structuredClone(old);
        await change();
        const now = await things.get(one as string);
        expect(old).toEqual(copy);
        expect(now).not.toEqual(old);
        expect(isDeeplyFrozen(now)).toBe(true);
        expect((await things.get(one as string)) === now).toBe(true);
      }
      const shown = await live.until((data) => data.some(({ n }) => n === 9));
      const all = await things.filter({});
      expect(shown.map((each, index) => each === all[index])).toEqual([true, true]);
      expect(all[0] === before[0]).toBe(false);
      expect(all[1] === before[1]).toBe(true);
      await things.delete(two as string);
      expect(await things.get(two as string)).toBe(undefined);
      live.stop();
    });

    test('a save and a compaction keep the object', async () => {
      const things = open();
      const { _id } = await things.insert(thing(1));
      const first = await things.get(_id);
      await things.save();
      for (let n = 0; n < 30; n++) {
        await things.insert(thing(n + 2));
        await things.save();
      }
      expect((await things.get(_id)) === first).toBe(true);
    });

    test('what a write returns belongs to the caller, and so does what modify hands out', async () => {
      const things = open();
      const inserted = await things.insert(thing(1));
      inserted.tags.push('mine');
      const patched = await things.patch(inserted._id, { n: 2 });
      patched?.tags.push('mine');
      const modified = await things.modify(inserted._id, (each) => {
        each.tags.push('theirs');
        return each;
      });
      modified?.tags.push('mine');
      expect((await things.get(inserted._id))?.tags).toEqual(['a', 'theirs']);
    });

    test('selected fields are frozen, but made for each call', async () => {
      const things = open();
      await things.insert(thing(1));
      const select = ['tags'] as const;
      const [selected] = await things.filter({}, { select });
      const chosen = await things.find(() => true, { select });
      expect(selected).toEqual({ _id: selected?._id, tags: ['a'] });
      expect(chosen).toEqual(selected);
      expect([isDeeplyFrozen(selected), isDeeplyFrozen(chosen)]).toEqual([true, true]);
    });

    test('a changed copy of a document can be stored', async () => {
      const things = open();
      const { _id } = await things.insert(thing(1));
      const found = (await things.get(_id)) as Thing;
      expect(() => found.tags.push('b')).toThrow(TypeError);
      await things.update(_id, { ...found, tags: [...found.tags, 'b'] });
      expect((await things.get(_id))?.tags).toEqual(['a', 'b']);
    });

    test('a page goes on behind a shared document', async () => {
      const things = open();
      await things.insertMany([3, 1, 2, 4].map(thing));
      const sort = { n: 1 } as const;
      const page = await things.filter({}, { sort, limit: 2 });
      const byInsertion = await things.filter({}, { limit: 3 });
      const next = await things.filter({}, { sort, limit: 2, after: page[1] });
      const rest = await things.filter({}, { after: byInsertion[2] });
      expect(next.map(({ n }) => n)).toEqual([3, 4]);
      expect(rest.map(({ n }) => n)).toEqual([4]);
    });

    test('a transaction gets copies', async () => {
      const things = open();
      const { _id } = await things.insert(thing(1));
      const shared = await things.get(_id);
      await fixture.db.transaction(async (tx) => {
        const copy = await tx(things).get(_id);
        copy?.tags.push('mine');
        const [found] = await tx(things).filter({ n: 1 });
        found?.tags.push('mine');
        if (copy) await tx(things).update(_id, { ...copy, n: 2 });
      });
      expect(shared?.tags).toEqual(['a']);
      expect(await things.get(_id)).toMatchObject({ n: 2, tags: ['a', 'mine'] });
    });

    test('values that cannot be frozen are those of the reader alone', async () => {
      const things = fixture.documents<{ at: Date; bytes: Uint8Array }>({ shared_documents: true });
      const { _id } = await things.insert({ at: new Date(5), bytes: new Uint8Array([1]) });
      const first = await things.get(_id);
      first?.at.setTime(9);
      expect((await things.get(_id)) === first).toBe(true);
      const copies = fixture.documents<{ at: Date }>({});
      expect((await copies.get(_id))?.at.getTime()).toBe(5);
    });

    test('a restored backup shows its content', async () => {
      const things = open();
      const { _id } = await things.insert(thing(1));
      const backup = await things.createBackup();
      await things.patch(_id, { n: 2 });
      await things.get(_id);
      await things.loadBackup(backup);
      const restored = await things.get(_id);
      expect(restored).toMatchObject({ n: 1, _updated: false });
      expect((await things.find({ n: 1 })) === restored).toBe(true);
    });

    test('Drop leaves the documents that were read as they are', async () => {
      const things = fixture.documents<Thing>({
        shared_documents: true,
        activate_drop_method: true,
      });
      const { _id } = await things.insert(thing(1));
      const read = await things.get(_id);
      await things.Drop();
      expect(read).toMatchObject(thing(1));
      const anew = open();
      await anew.insert({ _id, ...thing(2) });
      expect((await anew.get(_id))?.n).toBe(2);
    });

    test('two handles, with and without the option', async () => {
      const things = open();
      const { _id } = await things.insert(thing(1));
      const shared = await things.get(_id);
      const copies = fixture.documents<Thing>({ indexes: ['n'] });
      const copy = await copies.get(_id);
      copy?.tags.push('mine');
      copy?.inner.list.push({ deep: false });
      const [found] = await copies.filter({ n: 1 });
      found?.inner.list.push({ deep: false });
      expect(copy === found).toBe(false);
      expect((await things.get(_id)) === shared).toBe(true);
      expect(shared).toMatchObject(thing(1));
    });

    test('is for documents only', () => {
      const options = { shared_documents: true } as object;
      expect(thrown(() => fixture.keyValues(options))).toMatchObject({
        code: 'option_invalid',
        place: 'shared_documents',
      });
    });

    if (!fixture.caching || fixture.kind.engine !== 'thread') return;

    test('calls without promises return the same objects', async () => {
      const things = open();
      await things.ready;
      const { sync } = things;
      const [one, two] = sync.insertMany([thing(2), thing(1)]).map(({ _id }) => _id) as [
        string,
        string,
      ];
      const first = await things.get(one);
      expect(sync.get(one) === first).toBe(true);
      expect(sync.getMany([two, one])[1] === first).toBe(true);
      expect(sync.find({ n: 2 }) === first).toBe(true);
      expect(sync.filter({ n: { $gte: 1 } })[0] === first).toBe(true);
      expect(sync.filter({ tags: 'a' })[0] === first).toBe(true);
      expect(sync.filter(() => true, { limit: 1 })[0] === first).toBe(true);
      sync.patch(one, { n: 3 });
      expect(sync.get(one)).toMatchObject({ n: 3 });
      expect(sync.get(one) === sync.find({ n: 3 })).toBe(true);
    });
  });
}
