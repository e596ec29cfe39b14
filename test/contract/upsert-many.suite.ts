import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { LiveLog } from './live-log.ts';
import { EventLog, idsOf, own, rejection } from './outcomes.ts';

/** Long enough that a list of a thousand travels in several messages. */
const LONG = 'x'.repeat(2000);

interface Thing {
  n: number;
  pad?: string;
}

/** upsertMany: replaces and inserts, all or none. */
export function upsertManySuite(fixture: ClientFixture): void {
  describe('upsertMany', () => {
    test('replaces those that are there and inserts the others', async () => {
      const things = fixture.documents();
      await things.insertMany([
        { _id: 'a', n: 1, old: true },
        { _id: 'b', n: 2 },
        { _id: 'c', n: 3 },
      ]);
      await things.archive('c');
      const stored = await things.upsertMany([
        { _id: 'new', n: 4 },
        { _id: 'a', n: 5 },
        { n: 6 },
        { _id: 'c', n: 7 },
      ]);
      const generated = stored[2]?._id as string;
      const managed = (_updated: boolean, _archived = false) => ({ _updated, _archived });
      expect(stored).toEqual([
        { _id: 'new', ...managed(false), n: 4 },
        { _id: 'a', ...managed(true), n: 5 },
        { _id: generated, ...managed(false), n: 6 },
        { _id: 'c', ...managed(true, true), n: 7 },
      ]);
      // As `upsert` does: the old keep their places, the new come last.
      const all = await things.filter({}, { archived: true });
      expect(idsOf(all)).toEqual(['a', 'b', 'c', 'new', generated]);
      expect(own(all).map((one) => (one as Thing).n)).toEqual([5, 2, 7, 4, 6]);
      await fixture.reopen();
      expect(await fixture.documents().filter({}, { archived: true })).toEqual(all);
    });

    test('of two documents with one id the later counts', async () => {
      const things = fixture.documents<Thing>();
      await things.insert({ _id: 'a', n: 0 });
      const stored = await things.upsertMany([
        { _id: 'a', n: 1 },
        { _id: 'new', n: 2 },
        { _id: 'a', n: 3 },
        { _id: 'new', n: 4 },
      ]);
      expect(stored.map(({ _id, n, _updated }) => [_id, n, _updated])).toEqual([
        ['a', 1, true],
        ['new', 2, false],
        ['a', 3, true],
        ['new', 4, true],
      ]);
      expect(await things.filter({})).toEqual(stored.slice(2));
    });

    test('gives the stamps that upsert gives', async () => {
      const things = fixture.documents<Thing, '_created_timestamp' | '_updated_timestamp'>({
        indicate_created_timestamp: true,
        indicate_updated_timestamp: true,
      });
      const old = await things.insert({ _id: 'a', n: 1 });
      const [replaced, inserted] = await things.upsertMany([{ _id: 'a', n: 2 }, { n: 3 }]);
      expect(replaced?._created_timestamp).toBe(old._created_timestamp);
      expect(Object.keys(inserted as object)).not.toContain('_updated_timestamp');
      // One instant for all.
      expect(replaced?._updated_timestamp).toBe(inserted?._created_timestamp);
      expect(await things.filter({})).toEqual([replaced, inserted]);
      await fixture.reopen();
      const stamps = { indicate_created_timestamp: true, indicate_updated_timestamp: true };
      expect(await fixture.documents(stamps).filter({})).toEqual([replaced, inserted]);
    });

    test('ignores managed fields other than the id', async () => {
      const things = fixture.documents<Thing>();
      const [found] = await things.insertMany([{ _id: 'a', n: 1 }]);
      const given = { ...found, n: 2, _archived: true, _created_at: new Date(0) };
      expect(await things.upsertMany([given as never])).toEqual([
        { _id: 'a', _updated: true, _archived: false, n: 2 },
      ]);
    });

    test('of no documents changes nothing', async () => {
      const things = fixture.documents<Thing>();
      expect(await things.upsertMany([])).toEqual([]);
      expect(await things.count()).toBe(0);
    });

    test('of thousands replaces and inserts all: stamps, ids and order', async () => {
      const things = fixture.documents<Thing, '_updated_timestamp'>({
        indicate_updated_timestamp: true,
      });
      const ids = Array.from({ length: 3000 }, (_, n) => `t${n}`);
      await things.insertMany(ids.slice(0, 1500).map((_id) => ({ _id, n: -1 })));
      const stored = await things.upsertMany([
        ...ids.map((_id, n) => ({ _id, n, pad: LONG })),
        // In the last slice one that the first has as well.
        { _id: 't0', n: 7000 },
        { n: 7001 },
      ]);
      expect(stored.length).toBe(3002);
      expect(idsOf(stored.slice(0, 3000))).toEqual(ids);
      expect(stored.map(({ _updated }) => _updated)).toEqual([
        ...ids.map((_, n) => n < 1500),
        true,
        false,
      ]);
      const all = await things.filter({});
      expect(all.length).toBe(3001);
      expect(all).toEqual([stored[3000], ...stored.slice(1, 3000), stored[3001]]);
      await fixture.reopen();
      const again = fixture.documents<Thing>({ indicate_updated_timestamp: true });
      expect(await again.count({ _updated: true })).toBe(1500);
      expect(await again.get('t2999')).toEqual(stored[2999]);
    });

    test('leaves nothing behind when a later document cannot be stored', async () => {
      const things = fixture.documents<Thing>();
      await things.insertMany([
        { _id: 't0', n: -1 },
        { _id: 't1', n: -1 },
      ]);
      const before = await things.filter({});
      const many = Array.from({ length: 1500 }, (_, n) => ({ _id: `t${n}`, n, pad: LONG }));
      for (const bad of [{ n: () => 1 }, { _id: 5, n: 1 }, null]) {
        const error = await rejection(things.upsertMany([...many, bad as never]));
        expect(error instanceof fixture.lib.ValueError).toBe(true);
        expect(error.place?.startsWith('documents[1500]')).toBe(true);
        expect(await things.filter({})).toEqual(before);
      }
      // What was sent of them takes no part in what comes later.
      await things.upsertMany([{ _id: 'last', n: 5 }]);
      await fixture.reopen();
      expect(idsOf(await fixture.documents().filter({}))).toEqual(['t0', 't1', 'last']);
    });

    test('leaves nothing behind when the last slice violates a unique index', async () => {
      const indexes = [{ fields: 'n', unique: true }];
      const things = fixture.documents<Thing>({ indexes });
      const before = await things.insertMany([
        { _id: 't0', n: -1 },
        { _id: 'taken', n: 2000 },
      ]);
      const many = Array.from({ length: 1500 }, (_, n) => ({ _id: `t${n}`, n, pad: LONG }));
      const error = await rejection(things.upsertMany([...many, { _id: 'x', n: 2000 }]));
      expect(error).toMatchObject({ code: 'unique_violation', place: 'n' });
      expect(await things.filter({})).toEqual(before);
      expect(await things.count({ n: { $gte: 0, $lt: 1500 } })).toBe(0);
      expect(
        (await things.upsertMany([...many, { _id: 'taken', n: 1 }, { _id: 't1', n: 2000 }])).length,
      ).toBe(1502);
      expect(await things.filter({ n: { $in: [-1, 1, 2000] } })).toMatchObject([
        { _id: 'taken', n: 1 },
        { _id: 't1', n: 2000 },
      ]);
    });

    test('names the change of each document, and shows in live queries at once', async () => {
      const things = fixture.documents<Thing>();
      await things.insertMany([
        { _id: 'a', n: 1 },
        { _id: 'b', n: 2 },
      ]);
      const live = new LiveLog(things.live({}));
      await live.until(() => true);
      const log = new EventLog(things, 'change');
      await things.upsertMany([
        { _id: 'new', n: 3 },
        { _id: 'b', n: 4 },
      ]);
      await log.until((events) => events.length > 0);
      expect(log.events.map(({ changes }) => changes)).toEqual([
        [
          { id: 'new', kind: 'insert' },
          { id: 'b', kind: 'update' },
        ],
      ]);
      await live.until((data) => data.length === 3);
      expect(live.snapshots.map(({ data }) => data?.map(({ n }) => n)).slice(-2)).toEqual([
        [1, 2],
        [1, 4, 3],
      ]);
      live.stop();
    });

    test('refuses what is no list', async () => {
      const things = fixture.documents<Thing>();
      for (const documents of [undefined, null, {}, 'a', new Set()]) {
        const error = await rejection(things.upsertMany(documents as never));
        expect(error).toMatchObject({ code: 'document_invalid', place: 'documents' });
        expect(error.message).toContain('upsertMany');
      }
    });

    if (!fixture.caching || fixture.kind.engine !== 'thread') return;

    test('works without promises', async () => {
      const things = fixture.documents<Thing>();
      await things.ready;
      things.sync.insert({ _id: 'a', n: 1 });
      const many = Array.from({ length: 1500 }, (_, n) => ({ _id: `t${n}`, n, pad: LONG }));
      const stored = things.sync.upsertMany([{ _id: 'a', n: 2 }, ...many]);
      expect(stored[0]).toEqual({ _id: 'a', _updated: true, _archived: false, n: 2 });
      expect(things.sync.filter({})).toEqual(stored);
    });
  });
}
