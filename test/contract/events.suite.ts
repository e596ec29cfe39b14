import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { EventLog, thrown } from './outcomes.ts';

/** db.status, db.on, collection.on. */
export function eventsSuite(fixture: ClientFixture): void {
  describe('status', () => {
    test('is available before any call', async () => {
      await fixture.renew();
      expect(fixture.db.status).toMatchObject({ state: 'idle', unsaved: 0 });
    });

    test('says where the engine runs and which storage it has', async () => {
      await fixture.renew();
      await fixture.db.ready;
      const { engine, storage } = fixture.kind;
      expect(fixture.db.status).toMatchObject({ state: 'open', engine, storage, unsaved: 0 });
      expect(fixture.db.status.started === 'thread').toBe(engine === 'thread');
      await fixture.db.close();
      expect(fixture.db.status.state).toBe('closed');
    });

    test('has the number and age of unsaved changes and the time of the last save', async () => {
      await fixture.renew();
      const before = Date.now();
      const log = new EventLog(fixture.db, 'status');
      const things = fixture.documents({ save_timeout: 3600, save_directly_after: 1000 });
      await things.ready;
      expect(fixture.db.status.unsaved_since).toBe(undefined);
      await things.insertMany([{}, {}, {}]);
      await log.until((events) => events.some(({ unsaved }) => unsaved === 3));
      const { unsaved, unsaved_since } = fixture.db.status;
      expect(unsaved).toBe(3);
      expect(unsaved_since instanceof Date).toBe(true);
      expect(Number(unsaved_since) >= before && Number(unsaved_since) <= Date.now()).toBe(true);
      await things.save();
      await log.until((events) => events.at(-1)?.unsaved === 0);
      const { last_save } = fixture.db.status;
      expect(fixture.db.status).toMatchObject({ unsaved: 0 });
      expect(fixture.db.status.unsaved_since).toBe(undefined);
      expect(fixture.db.status.last_error).toBe(undefined);
      expect(last_save instanceof Date && Number(last_save) >= before).toBe(true);
    });

    test('is an event on every change', async () => {
      await fixture.renew();
      const log = new EventLog(fixture.db, 'status');
      await fixture.db.ready;
      await fixture.db.close();
      const states = log.events.map(({ state }) => state);
      expect(states.filter((state, at) => state !== states[at - 1])).toEqual([
        'opening',
        'open',
        'closing',
        'closed',
      ]);
    });
  });

  describe('events', () => {
    test('change has the collection, the ids and the kind of change', async () => {
      const log = new EventLog(await fixture.renew(), 'change');
      const things = fixture.documents();
      await things.insert({ _id: 'a' });
      await things.update('a', { n: 1 });
      await things.patch('a', { n: 2 });
      await things.archive('a');
      await things.unarchive('a');
      await things.upsert({ _id: 'a' });
      await things.upsert({ _id: 'b' });
      await things.insertMany([{ _id: 'c' }, { _id: 'd' }]);
      await things.delete('a');
      await things.deleteMany({ _id: { $in: ['c', 'd'] } });
      const values = fixture.keyValues();
      await values.set('k.deep', 1);
      await values.delete('k');
      const happened = () =>
        log.events.flatMap(({ collection, changes }) =>
          changes.map(({ id, kind }) => `${collection} ${id} ${kind}`),
        );
      const expected = [
        ...[
          'a insert',
          'a update',
          'a update',
          'a archive',
          'a unarchive',
          'a update',
          'b insert',
          'c insert',
          'd insert',
          'a delete',
          'c delete',
          'd delete',
        ].map((change) => `${things.name} ${change}`),
        ...['k set', 'k delete'].map((change) => `${values.name} ${change}`),
      ];
      await log.until(() => happened().length >= expected.length);
      expect(happened()).toEqual(expected);
    });

    test('calls without effect emit nothing', async () => {
      const things = fixture.documents();
      await things.insert({ _id: 'a' });
      const log = new EventLog(things, 'change');
      await things.delete('b');
      await things.update('b', {});
      await things.unarchive('a');
      await things.insert({ _id: 'a' }).catch(() => undefined);
      await things.filter({});
      await things.insert({ _id: 'last' });
      await log.until((events) => events.length > 0);
      expect(log.events.flatMap(({ changes }) => changes.map(({ id }) => id))).toEqual(['last']);
    });

    test('a collection emits only its own events', async () => {
      const one = fixture.documents({ name: 'one' });
      const other = fixture.documents({ name: 'other' });
      const log = new EventLog(one, 'change');
      await other.insert({});
      await one.insert({ _id: 'mine' });
      await log.until((events) => events.length > 0);
      expect(log.events.map(({ collection }) => collection)).toEqual([one.name]);
    });

    test('save has the collection, the number of changes and the time', async () => {
      const before = Date.now();
      const all = new EventLog(await fixture.renew(), 'save');
      const things = fixture.documents({ save_timeout: 3600, save_directly_after: 1000 });
      const log = new EventLog(things, 'save');
      await things.insertMany([{}, {}]);
      await things.save();
      await log.until((events) => events.length > 0);
      await all.until((events) => events.length > 0);
      expect(all.events).toEqual(log.events);
      const [event] = log.events;
      expect(event).toMatchObject({ collection: things.name, changes: 2 });
      expect(event?.at instanceof Date && Number(event.at) >= before).toBe(true);
    });

    test('the returned function removes one listener', async () => {
      const things = fixture.documents();
      const stopped = new EventLog(things, 'change');
      const log = new EventLog(things, 'change');
      await things.insert({ _id: 'a' });
      await stopped.until((events) => events.length === 1);
      stopped.stop();
      stopped.stop();
      await things.insert({ _id: 'b' });
      await log.until((events) => events.length === 2);
      expect(stopped.events.length).toBe(1);
    });

    test('a listener may be added twice', async () => {
      const things = fixture.documents();
      let calls = 0;
      const listener = () => {
        calls++;
      };
      const stop = things.on('change', listener);
      things.on('change', listener);
      const log = new EventLog(things, 'change');
      await things.insert({});
      await log.until((events) => events.length === 1);
      expect(calls).toBe(2);
      stop();
      await things.insert({});
      await log.until((events) => events.length === 2);
      expect(calls).toBe(3);
    });

    test('an unknown event is an error, and so is a listener other than a function', () => {
      const { CairnError } = fixture.lib;
      for (const source of [fixture.db, fixture.documents()]) {
        const unknown = thrown(() => source.on('changed' as never, () => undefined));
        expect(unknown instanceof CairnError && unknown.message.includes('change')).toBe(true);
        expect(thrown(() => source.on('change', 5 as never)) instanceof CairnError).toBe(true);
      }
    });
  });
}
