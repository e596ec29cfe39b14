import { describe, expect, test } from 'vitest';
import * as lib from '../../src/index.ts';
import { FailingStorage } from './failing-storage.ts';
import { EventLog, rejection } from './outcomes.ts';

const LATER = { save_timeout: 3600, save_directly_after: 100_000 };

/** A failed save keeps its changes, is retried and is reported; at most one save is in flight. */
describe.each([false, true])('failed saves, caching: %s', (caching) => {
  const open = (options: object = LATER) => {
    const storage = new FailingStorage(lib.memoryDriver());
    const db = new lib.Database({ name: 'shop', storage });
    const things = new db.Collection<{ n: number }>({
      name: 'things',
      type: 'DOCUMENT_BASED',
      caching,
      ...options,
    });
    return { storage, db, things };
  };
  const full = () =>
    new lib.StorageError('storage_full', 'The disk is full.', { cause: new Error('quota') });
  const names = async (storage: FailingStorage) => {
    const db = new lib.Database({ name: 'shop', storage });
    const things = new db.Collection<{ n: number }>({ name: 'things', type: 'DOCUMENT_BASED' });
    const found = (await things.filter({})).map(({ n }) => n);
    await db.close();
    return found;
  };

  test('save rejects with the error of storage, which is also an event', async () => {
    const { storage, db, things } = open();
    const log = new EventLog(things, 'error');
    await things.insert({ n: 1 });
    const failure = full();
    storage.beforeWrite = async () => Promise.reject(failure);
    expect(await rejection(things.save())).toBe(failure);
    expect(await rejection(db.save())).toBe(failure);
    await log.until((events) => events.length >= 1);
    expect(log.events[0]).toMatchObject({ collection: 'things', error: { code: 'storage_full' } });
    expect(db.status).toMatchObject({ unsaved: 1, last_error: { code: 'storage_full' } });
    expect(db.status.unsaved_since instanceof Date).toBe(true);
    storage.beforeWrite = async () => undefined;
    await things.save();
    expect(db.status.unsaved).toBe(0);
    expect(db.status.last_error).toBe(undefined);
    await db.close();
    expect(await names(storage)).toEqual([1]);
  });

  test('a save that takes long delays no call of its turn', async () => {
    const { storage, db, things } = open();
    const others = new db.Collection<{ n: number }>({
      ...{ name: 'others', type: 'DOCUMENT_BASED', caching },
      ...LATER,
    });
    await others.insert({ _id: 'b', n: 2 });
    await things.insert({ _id: 'a', n: 1 });
    let write = (): void => undefined;
    const disk = new Promise<void>((resolve) => {
      write = resolve;
    });
    storage.beforeWrite = () => disk;
    let isSaved = false;
    const before = things.get('a');
    const saving = things.save().then(() => {
      isSaved = true;
    });
    const answers = [before, others.get('b'), others.count({}), things.insert({ _id: 'c', n: 3 })];
    await Promise.all(answers);
    expect(isSaved).toBe(false);
    write();
    await saving;
    await db.close();
  });

  test('unsaved changes stay readable and can be changed further', async () => {
    const { storage, db, things } = open();
    await things.insertMany([
      { _id: 'a', n: 1 },
      { _id: 'b', n: 2 },
    ]);
    await things.save();
    await things.update('a', { n: 3 });
    await things.delete('b');
    storage.beforeWrite = async () => Promise.reject(full());
    await rejection(things.save());
    expect((await things.filter({})).map(({ n }) => n)).toEqual([3]);
    await things.update('a', { n: 4 });
    await things.insert({ n: 5 });
    await rejection(things.save());
    expect((await things.filter({})).map(({ n }) => n)).toEqual([4, 5]);
    storage.beforeWrite = async () => undefined;
    await db.close();
    expect(await names(storage)).toEqual([4, 5]);
  });

  test('a failed save is retried automatically', async () => {
    const { storage, db, things } = open({ save_timeout: 0 });
    const errors = new EventLog(things, 'error');
    const saves = new EventLog(things, 'save');
    await things.ready;
    storage.beforeWrite = async () => Promise.reject(full());
    await things.insert({ n: 1 });
    await errors.until((events) => events.length >= 1);
    storage.beforeWrite = async () => undefined;
    await saves.until((events) => events.length >= 1);
    expect(db.status).toMatchObject({ unsaved: 0, last_error: undefined });
    await db.close();
    expect(await names(storage)).toEqual([1]);
  });

  test('close rejects and the client stays open: no change is lost', async () => {
    const { storage, db, things } = open();
    await things.insert({ n: 1 });
    storage.beforeWrite = async () => Promise.reject(full());
    expect((await rejection(db.close())).code).toBe('storage_full');
    expect(db.status.state).toBe('open');
    expect(await things.count()).toBe(1);
    await things.insert({ n: 2 });
    storage.beforeWrite = async () => undefined;
    await db.close();
    expect(db.status.state).toBe('closed');
    expect(await names(storage)).toEqual([1, 2]);
  });

  test('an unexpected driver error becomes a typed one with its cause', async () => {
    const { storage, db, things } = open();
    await things.insert({ n: 1 });
    const failure = new RangeError('what?');
    storage.beforeWrite = async () => Promise.reject(failure);
    const error = await rejection(things.save());
    expect(error instanceof lib.CairnError).toBe(true);
    expect(error.cause).toBe(failure);
    storage.beforeWrite = async () => undefined;
    await db.close();
  });

  test('changes made during a save go into the next', async () => {
    const { storage, db, things } = open({ save_timeout: 0, save_directly_after: 1 });
    const saves = new EventLog(things, 'save');
    await things.ready;
    let inFlight = 0;
    let most = 0;
    let release: () => void = () => undefined;
    let begun: () => void = () => undefined;
    const begins = new Promise<void>((resolve) => {
      begun = resolve;
    });
    storage.beforeWrite = async () => {
      most = Math.max(most, ++inFlight);
      begun();
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      inFlight--;
    };
    await things.insert({ n: 0 });
    await begins;
    for (let n = 1; n <= 10; n++) await things.insert({ n });
    expect(await things.count()).toBe(11);
    expect(storage.writes).toBe(1);
    storage.beforeWrite = async () => undefined;
    release();
    await saves.until((events) => events.length >= 2);
    expect(saves.events.map(({ changes }) => changes)).toEqual([1, 10]);
    expect(most).toBe(1);
    await db.close();
    expect((await names(storage)).length).toBe(11);
  });

  test('a failed Drop keeps the collection', async () => {
    const { storage, db, things } = open({ ...LATER, activate_drop_method: true });
    await things.insert({ n: 1 });
    await things.save();
    await things.insert({ n: 2 });
    storage.beforeWrite = async () => Promise.reject(full());
    expect((await rejection(things.Drop())).code).toBe('storage_full');
    expect(await things.count()).toBe(2);
    storage.beforeWrite = async () => undefined;
    await db.close();
    expect(await names(storage)).toEqual([1, 2]);
  });
});
