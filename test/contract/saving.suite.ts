import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { EventLog } from './outcomes.ts';

/** Longer than any test. */
const LATER = { save_timeout: 3600, save_directly_after: 100_000 };

/** When a collection is saved. */
export function savingSuite(fixture: ClientFixture): void {
  const waitingFor = (seconds: number) =>
    fixture.documents({ ...LATER, name: `after ${seconds} s`, save_timeout: seconds });

  /**
   * The first saves of several collections, in order: a late save shows by the saves before it, on
   * slow machines too.
   */
  const firstSaves = async (
    log: EventLog<'save'>,
    count: number,
    among: readonly { readonly name: string }[],
  ) => {
    const ours = () =>
      log.events.filter(({ collection }) => among.some(({ name }) => name === collection));
    await log.until(() => ours().length >= count);
    return ours().map(({ collection, changes }) => [collection, changes]);
  };

  describe('saving', () => {
    test('save resolves once all earlier changes are durable', async () => {
      const things = fixture.documents(LATER);
      const log = new EventLog(things, 'save');
      void things.insert({});
      void things.insert({});
      await things.save();
      await log.until((events) => events.length > 0);
      expect(log.events.map(({ changes }) => changes)).toEqual([2]);
      expect(fixture.db.status.unsaved).toBe(0);
      expect(await things.save()).toBe(undefined);
    });

    test('db.save saves every collection', async () => {
      const log = new EventLog(await fixture.renew(), 'save');
      await fixture.documents(LATER).insert({});
      await fixture.keyValues(LATER).set('a', 1);
      expect(await fixture.db.save()).toBe(undefined);
      await log.until((events) => events.length === 2);
      expect(log.events.map(({ collection }) => collection).sort()).toEqual([
        fixture.nameOf('things'),
        fixture.nameOf('values'),
      ]);
    });

    test('save_timeout: 0 saves each change as soon as possible', async () => {
      const things = fixture.documents({ ...LATER, save_timeout: 0 });
      const late = waitingFor(2);
      const log = new EventLog(fixture.db, 'save');
      await things.insert({});
      await late.insert({});
      await firstSaves(log, 1, [things, late]);
      await things.insert({});
      expect(await firstSaves(log, 2, [things, late])).toEqual([
        [things.name, 1],
        [things.name, 1],
      ]);
    });

    test('save_timeout delays a save, with all changes until then', async () => {
      const things = fixture.documents({ ...LATER, save_timeout: 0.05 });
      const late = waitingFor(2);
      const log = new EventLog(fixture.db, 'save');
      await Promise.all([things.insert({}), things.insert({}), things.insert({})]);
      await late.insert({});
      expect(await firstSaves(log, 1, [things, late])).toEqual([[things.name, 3]]);
    });

    test('the delay counts from the first unsaved change: steady changes do not postpone it', async () => {
      const things = fixture.documents({ ...LATER, save_timeout: 0.1 });
      const late = waitingFor(2);
      const log = new EventLog(fixture.db, 'save');
      await things.insert({});
      await late.insert({});
      const first = firstSaves(log, 1, [things, late]);
      let saved = false;
      void first.then(() => {
        saved = true;
      });
      while (!saved) {
        await things.insert({});
        await new Promise((resolve) => setTimeout(resolve));
      }
      expect(await first).toMatchObject([[things.name, expect.any(Number)]]);
    });

    test('by default a change is saved at once', async () => {
      const [late, things] = [waitingFor(1), fixture.documents()];
      const log = new EventLog(fixture.db, 'save');
      await things.ready;
      await late.insert({});
      await things.insert({});
      expect(await firstSaves(log, 1, [late, things])).toEqual([[things.name, 1]]);
    });

    test('save_directly_after saves at once after this number of changes', async () => {
      const things = fixture.documents({ ...LATER, save_directly_after: 3 });
      const log = new EventLog(things, 'save');
      await things.insert({});
      await things.insert({});
      await things.insert({});
      await log.until((events) => events.length === 1);
      // An earlier save would show another number.
      expect(log.events.map(({ changes }) => changes)).toEqual([3]);
    });

    test('save_directly_after is 5 by default', async () => {
      const things = fixture.documents({ save_timeout: 3600 });
      const log = new EventLog(things, 'save');
      for (let n = 0; n < 5; n++) await things.insert({});
      await log.until((events) => events.length === 1);
      expect(log.events.map(({ changes }) => changes)).toEqual([5]);
    });

    test('every kind of change counts, not only inserts', async () => {
      const things = fixture.documents(LATER);
      await things.insertMany(['a', 'b', 'c', 'd', 'e', 'f'].map((_id) => ({ _id })));
      await things.archive('d');
      await fixture.reopen();
      const counted = fixture.documents({ ...LATER, save_directly_after: 6 });
      const log = new EventLog(counted, 'save');
      await counted.update('a', { n: 1 });
      await counted.patch('b', { n: 1 });
      await counted.archive('c');
      await counted.unarchive('d');
      await counted.delete('e');
      await counted.upsert({ _id: 'f', n: 1 });
      await log.until((events) => events.length === 1);
      expect(log.events.map(({ changes }) => changes)).toEqual([6]);
    });

    test('key-value writes count, too', async () => {
      const values = fixture.keyValues({ ...LATER, save_directly_after: 4 });
      const log = new EventLog(values, 'save');
      await values.set('a', 1);
      await values.push('b', 1);
      await values.increase('c', 1);
      await values.set('d', 1);
      await log.until((events) => events.length === 1);
      expect(log.events.map(({ changes }) => changes)).toEqual([4]);
    });

    test('several changes of one document, or key, each count', async () => {
      const log = new EventLog(await fixture.renew(), 'save');
      const things = fixture.documents({ ...LATER, save_directly_after: 5 });
      const { _id } = await things.insert({});
      for (let n = 0; n < 4; n++) await things.update(_id, { n });
      const values = fixture.keyValues({ ...LATER, save_directly_after: 5 });
      for (let n = 0; n < 5; n++) await values.increase('visits', 1);
      // Each is being saved by now: one more change makes one more save.
      await things.update(_id, { n: 4 });
      await values.increase('visits', 1);
      await Promise.all([things.save(), values.save()]);
      const last = fixture.documents({ name: 'last' });
      await last.insert({});
      await last.save();
      await log.until((events) => events.some(({ collection }) => collection === last.name));
      const saved = log.events.map(({ collection }) => collection).sort();
      const { name } = things;
      expect(saved).toEqual([last.name, name, name, values.name, values.name]);
    });

    test('reads see every change, saved or not', async () => {
      const things = fixture.documents<{ n: number }>(LATER);
      await things.insertMany([
        { _id: 'a', n: 1 },
        { _id: 'b', n: 2 },
      ]);
      await things.save();
      await things.update('a', { n: 3 });
      await things.delete('b');
      await things.insert({ _id: 'c', n: 4 });
      for (const params of [{}, () => true]) {
        expect((await things.filter(params)).map(({ n }) => n)).toEqual([3, 4]);
      }
      expect(await things.get('b')).toBe(undefined);
      expect(await things.count({ n: { $gt: 2 } })).toBe(2);
    });
  });
}
