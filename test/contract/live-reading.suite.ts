import { describe, expect, test } from 'vitest';
import type { LiveSnapshot } from '../../src/index.ts';
import type { ClientFixture } from './client-fixture.ts';
import { LiveLog } from './live-log.ts';
import { rejection } from './outcomes.ts';

/** The ways to read a live query, and how it ends. */
export function liveReadingSuite(fixture: ClientFixture): void {
  /** Timers fire in order: a query without readers has stopped by then. */
  const stopped = () => new Promise((resolve) => setTimeout(resolve));
  const counter = async () => {
    const things = fixture.documents<{ n: number }>();
    await things.insert({ _id: 'a', n: 0 });
    return things;
  };

  describe('reading a live query', () => {
    test('is pending first, then ready; subscribe does not call at once', async () => {
      const things = await counter();
      const query = things.live({});
      expect(query.getSnapshot()).toEqual({ status: 'pending', data: undefined, error: undefined });
      const log = new LiveLog(query);
      expect(log.snapshots).toEqual([]);
      await log.until(() => true);
      expect(log.snapshots.map(({ status, error }) => [status, error])).toEqual([
        ['ready', undefined],
      ]);
      expect(query.getSnapshot()).toBe(log.snapshots[0]);
      expect(Object.isFrozen(log.snapshots[0])).toBe(true);
      log.stop();
    });

    test('works with unbound methods, and loads without a subscriber', async () => {
      const { getSnapshot, subscribe } = (await counter()).liveCount();
      // A timer, not a call: calls in this thread take no turn of the event loop, which loading
      // needs.
      while (getSnapshot().status === 'pending') await stopped();
      expect(getSnapshot()).toEqual({ status: 'ready', data: 1, error: undefined });
      subscribe(() => undefined)();
    });

    test('ready resolves with the first snapshot, and rejects with its error', async () => {
      const things = await counter();
      const query = things.live({});
      expect(await query.ready).toBe(query.getSnapshot());
      expect((await query.ready).data.length).toBe(1);
      const error = await rejection(things.live({ n: { $no: 1 } } as never).ready);
      expect(error instanceof fixture.lib.CriteriaError).toBe(true);
      expect(error.code).toBe('operator_unknown');
    });

    test('goes on when readers change at the same time', async () => {
      const things = await counter();
      const query = things.live({});
      const first = new LiveLog(query);
      const before = await first.until(() => true);
      first.stop();
      const second = new LiveLog(query);
      await things.update('a', { n: 1 });
      const after = await second.until((data) => data[0]?.n === 1);
      expect(second.snapshots.length).toBe(1);
      expect(after === before).toBe(false);
      second.stop();
    });

    test('can resume later; unchanged documents stay the same objects', async () => {
      const things = await counter();
      await things.insert({ _id: 'b', n: 5 });
      const query = things.live({});
      const first = new LiveLog(query);
      const before = await first.until(() => true);
      first.stop();
      await stopped();
      await things.update('a', { n: 1 });
      const second = new LiveLog(query);
      const after = await second.until((data) => data[0]?.n === 1);
      expect(after[1]).toBe(before[1]);
      expect(first.snapshots.length).toBe(1);
      second.stop();
    });

    test('is pending again without readers, because the data may be outdated', async () => {
      const things = await counter();
      const query = things.live({});
      const log = new LiveLog(query);
      const before = await log.until(() => true);
      log.stop();
      await stopped();
      expect(query.getSnapshot()).toEqual({ status: 'pending', data: before, error: undefined });
      expect((await query.ready).data).toBe(before);
      await stopped();
      await things.insert({ n: 1 });
      expect((await query.ready).data.length).toBe(2);
      expect(log.snapshots.length).toBe(1);
    });

    test('a listener may leave or throw without effect on others', async () => {
      const things = await counter();
      const query = things.live({});
      const calls: string[] = [];
      const stops = ['a', 'b', 'c'].map((name) =>
        query.subscribe(() => {
          calls.push(name);
          stops[1]?.();
        }),
      );
      const log = new LiveLog(query);
      await log.until(() => true);
      await things.update('a', { n: 1 });
      await log.until((data) => data[0]?.n === 1);
      expect(calls).toEqual(['a', 'c', 'a', 'c']);
      for (const stop of stops) stop();
      log.stop();
    });

    test('a listener added twice is called twice and removed one by one', async () => {
      const things = await counter();
      const query = things.liveCount();
      let calls = 0;
      const listener = () => void calls++;
      const [one, two] = [query.subscribe(listener), query.subscribe(listener)];
      await query.ready;
      expect(calls).toBe(2);
      one();
      one();
      const log = new LiveLog(query);
      await things.insert({ n: 1 });
      await log.until((count) => count === 2);
      expect(calls).toBe(3);
      two();
      log.stop();
    });

    test('calls at once as a Svelte store', async () => {
      const things = await counter();
      const query = things.liveCount();
      const seen: LiveSnapshot<number>[] = [];
      const stop = query.store.subscribe((snapshot) => seen.push(snapshot));
      expect(seen.map(({ status }) => status)).toEqual(['pending']);
      await query.ready;
      expect(seen.map(({ data }) => data)).toEqual([undefined, 1]);
      stop();
      query.store.subscribe((snapshot) => seen.push(snapshot))();
      expect(seen.length).toBe(3);
    });
  });

  describe('a loop over a live query', () => {
    test('gets the current data, then each change, until it breaks', async () => {
      const things = await counter();
      const seen: (number | undefined)[] = [];
      for await (const [task] of things.live({})) {
        seen.push(task?.n);
        if (seen.length === 3) break;
        await things.update('a', { n: seen.length });
      }
      expect(seen).toEqual([0, 1, 2]);
    });

    test('that is slow gets the newest data', async () => {
      const things = await counter();
      const query = things.live({});
      const current = new LiveLog(query);
      const seen: (number | undefined)[] = [];
      for await (const [task] of query) {
        seen.push(task?.n);
        if (task?.n === 20) break;
        for (let n = 1; n <= 20; n++) await things.update('a', { n });
        await current.until((data) => data[0]?.n === 20);
      }
      expect(seen).toEqual([0, 20]);
      current.stop();
    });

    test('return() ends a waiting next()', async () => {
      const loop = (await counter()).live({})[Symbol.asyncIterator]();
      expect((await loop.next()).done).toBe(false);
      const waiting = loop.next();
      expect(await loop.return?.()).toEqual({ done: true, value: undefined });
      expect(await waiting).toEqual({ done: true, value: undefined });
      expect(await loop.next()).toEqual({ done: true, value: undefined });
    });

    test('throws the error of the query', async () => {
      const things = await counter();
      const loop = things.live({ n: { $no: 1 } } as never)[Symbol.asyncIterator]();
      expect((await rejection(loop.next())).code).toBe('operator_unknown');
      expect((await loop.next()).done).toBe(true);
    });

    test('ends when the query is closed', async () => {
      const things = await counter();
      const query = things.live({});
      const seen: number[] = [];
      for await (const data of query) {
        seen.push(data.length);
        query.close();
      }
      expect(seen).toEqual([1]);
    });
  });

  describe('a live query ends', () => {
    test('with close(), for good', async () => {
      const things = await counter();
      const query = things.live({});
      const log = new LiveLog(query);
      const data = await log.until(() => true);
      query.close();
      query.close();
      expect(query.getSnapshot()).toMatchObject({ status: 'error', error: { code: 'closed' } });
      expect(query.getSnapshot().data).toBe(data);
      expect(log.snapshots.length).toBe(2);
      const other = new LiveLog(things.live({}));
      await things.insert({ n: 1 });
      await other.until(({ length }) => length === 2);
      other.stop();
      expect(log.snapshots.length).toBe(2);
      expect((await rejection(query.ready)).code).toBe('closed');
    });

    test('with close(), also in the middle of a change', async () => {
      const things = await counter();
      for (let ticks = 0; ticks < 30; ticks++) {
        const query = things.live({});
        await query.ready;
        const change = things.update('a', { n: ticks + 1 });
        for (let tick = 0; tick < ticks; tick++) await undefined;
        query.close();
        await change;
        await things.count();
        expect(query.getSnapshot()).toMatchObject({ status: 'error', error: { code: 'closed' } });
      }
    });

    test('when the client closes', async () => {
      const things = await counter();
      const query = things.live({});
      const log = new LiveLog(query);
      const data = await log.until(() => true);
      const loop = query[Symbol.asyncIterator]();
      await loop.next();
      const waiting = loop.next();
      await fixture.db.close();
      const error = await log.error();
      expect(error instanceof fixture.lib.CollectionError).toBe(true);
      expect(error.code).toBe('closed');
      expect(error.data).toBe(data);
      expect((await waiting).done).toBe(true);
      expect((await rejection(things.live({}).ready)).code).toBe('closed');
      log.stop();
    });

    test('with the collection', async () => {
      const things = fixture.documents({ activate_drop_method: true });
      await things.insert({});
      const log = new LiveLog(things.live({}));
      const loop = things.liveCount()[Symbol.asyncIterator]();
      await loop.next();
      const waiting = rejection(loop.next());
      await log.until(() => true);
      await things.Drop();
      const error = await log.error();
      expect(error instanceof fixture.lib.CollectionError).toBe(true);
      expect(error.code).toBe('collection_dropped');
      expect((await waiting).code).toBe('collection_dropped');
      log.stop();
      const again = new LiveLog(fixture.documents().liveCount());
      expect(await again.until(() => true)).toBe(0);
      again.stop();
    });

    test('with the error of a function, and retries when read again', async () => {
      const things = await counter();
      let angry = true;
      const query = things.live(() => {
        if (angry) throw new RangeError('angry');
        return true;
      });
      const log = new LiveLog(query);
      expect(await log.error()).toMatchObject({ name: 'RangeError', message: 'angry' });
      log.stop();
      await stopped();
      angry = false;
      const again = await new Promise<LiveSnapshot<readonly object[]>[]>((resolve) => {
        const seen: LiveSnapshot<readonly object[]>[] = [];
        const stop = query.subscribe((snapshot) => {
          seen.push(snapshot);
          if (snapshot.status !== 'ready') return;
          stop();
          resolve(seen);
        });
      });
      expect(again.map(({ status }) => status)).toEqual(['pending', 'ready']);
      expect(again[1]?.data).toHaveLength(1);
      const patient = things.live(async () => true);
      expect((await rejection(patient.ready)).code).toBe('predicate_async');
    });

    test('with an error, which neither ready nor a loop gets again', async () => {
      const things = await counter();
      let angry = false;
      const query = things.live(() => {
        if (angry) throw new RangeError('angry');
        return true;
      });
      const { data } = await query.ready;
      await stopped();
      angry = true;
      expect((await rejection(query.ready)).message).toBe('angry');
      await stopped();
      expect(query.getSnapshot()).toEqual({ status: 'pending', data, error: undefined });
      expect((await rejection(query[Symbol.asyncIterator]().next())).message).toBe('angry');
      angry = false;
      // Also before the failed run is over.
      expect((await query.ready).data).toEqual(data);
      await stopped();
      angry = true;
      await rejection(query.ready);
      await stopped();
      angry = false;
      for await (const found of query) {
        expect(found).toEqual(data);
        break;
      }
    });

    test('with an error, which a reader that comes later shares with those that stay', async () => {
      const things = await counter();
      let calls = 0;
      const query = things.live(() => {
        calls++;
        throw new RangeError('angry');
      });
      const log = new LiveLog(query);
      await log.error();
      expect((await rejection(query.ready)).message).toBe('angry');
      expect(calls).toBe(1);
      log.stop();
    });

    test('filling a hole is a change', async () => {
      const values = fixture.keyValues();
      const log = new LiveLog(values.live<unknown[]>('list'));
      await values.set('list', Object.assign([], { 1: 'b' }));
      await log.until((data) => data?.[1] === 'b');
      await values.set(['list', 0], 'a');
      await log.until((data) => data?.[0] === 'a');
      log.stop();
    });

    test('with an error of the engine', async () => {
      const things = await counter();
      const values = fixture.keyValues();
      const wrong = [
        [things.live({}, { sort: { n: 2 as never } }), 'sort_invalid'],
        [things.live({}, { sort: 'n' as never }), 'sort_invalid'],
        [things.live({}, { select: 'n' as never }), 'select_invalid'],
        [things.live({}, { select: ['__proto__'] as never }), 'select_invalid'],
        [things.live(() => true, { select: ['a.__proto__'] as never }), 'select_invalid'],
        [values.live('a..b'), 'key_invalid'],
        [values.live('__proto__'), 'key_invalid'],
      ] as const;
      for (const [query, code] of wrong) expect((await rejection(query.ready)).code).toBe(code);
    });
  });
}
