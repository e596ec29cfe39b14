import { afterEach, describe, expect, test, vi } from 'vitest';
import { CairnError, memoryDriver } from '../../src/index.ts';
import {
  closeTestDatabases,
  FakeClock,
  testBrowser,
  testDatabase,
  testStorage,
} from '../../src/testing/index.ts';

afterEach(closeTestDatabases);

const ORDERS = { name: 'orders', type: 'DOCUMENT_BASED' } as const;
const NEVER = { save_timeout: 3600, save_directly_after: 1000 };

describe('testDatabase', () => {
  test('is empty each time, under the same name', async () => {
    for (let round = 0; round < 3; round++) {
      const db = testDatabase();
      const orders = new db.Collection(ORDERS);
      await orders.insert({ _id: 'a' });
      expect(await orders.count()).toBe(1);
      expect(db.status).toMatchObject({ state: 'open', engine: 'thread', storage: 'memory' });
    }
  });

  test('warns of nothing, and makes no connection', async () => {
    const warn = vi.spyOn(console, 'warn');
    await testDatabase().ready;
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  test('opens the data of a closed one again, by its disk', async () => {
    const before = testDatabase({ name: 'shop' });
    await new before.Collection(ORDERS).insert({ _id: 'a', price: 40 });
    await before.close();
    const after = testDatabase({ name: 'shop', storage: before.disk });
    expect(await new after.Collection(ORDERS).get('a')).toMatchObject({ price: 40 });
    expect(after.disk).toBe(before.disk);
  });

  test('takes a driver', async () => {
    const driver = memoryDriver();
    const one = testDatabase({ storage: driver });
    await new one.Collection(ORDERS).insert({ _id: 'a' });
    await one.close();
    const two = testDatabase({ storage: driver });
    expect(await new two.Collection(ORDERS).count()).toBe(1);
  });

  test('has synchronous calls and transactions', async () => {
    const db = testDatabase();
    const orders = new db.Collection<{ n: number }>({ ...ORDERS, caching: true });
    await orders.ready;
    orders.sync.insert({ _id: 'a', n: 1 });
    db.transactionSync((tx) => tx(orders).patch('a', { $inc: { n: 1 } }));
    expect(orders.sync.get('a')?.n).toBe(2);
  });

  test('await using closes it, with a full disk too', async () => {
    const opened = testDatabase();
    {
      await using db = opened;
      await new db.Collection({ ...ORDERS, ...NEVER }).insert({});
      db.disk.fail();
      db.disk.holdWrites();
    }
    expect(opened.status.state).toBe('closed');
  });

  test('closeTestDatabases closes all, and reports the first that fails', async () => {
    const broken = testDatabase({
      storage: {
        kind: 'broken',
        open: () => Promise.reject(new CairnError('aborted', 'no')),
      },
    });
    const fine = testDatabase();
    await fine.ready;
    await broken.ready.catch(() => undefined);
    await closeTestDatabases();
    expect(fine.status.state).toBe('closed');
    await closeTestDatabases();
  });

  test.each([
    [{ nmae: 'a' }, 'option_unknown'],
    [{ name: '' }, 'option_invalid'],
    [{ storage: 'memory' }, 'option_invalid'],
    [{ clock: { now: () => 5 } }, 'option_invalid'],
    [5, 'option_invalid'],
  ])('refuses %j', (options, code) => {
    expect(() => testDatabase(options as never)).toThrow(expect.objectContaining({ code }));
  });
});

describe('disk', () => {
  const open = () => {
    const db = testDatabase();
    const orders = new db.Collection<{ n: number }>({ ...ORDERS, ...NEVER });
    return { db, orders, disk: db.disk };
  };

  test('a full disk: save() rejects, the change stays, and is saved after the repair', async () => {
    const { db, orders, disk } = open();
    await orders.insert({ n: 1 });
    const errors: string[] = [];
    db.on('error', ({ error }) => errors.push((error as CairnError).code));
    disk.fail();
    await expect(orders.save()).rejects.toMatchObject({
      name: 'StorageError',
      code: 'storage_full',
    });
    expect(errors).toEqual(['storage_full']);
    expect(db.status).toMatchObject({ unsaved: 1, last_error: { code: 'storage_full' } });
    expect(await orders.count()).toBe(1);
    disk.repair();
    await orders.save();
    expect(db.status).toMatchObject({ unsaved: 0, last_error: undefined });
  });

  test('fails with a code, at reads', async () => {
    const { db, orders, disk } = open();
    await orders.insert({ n: 1 });
    await db.close();
    const again = testDatabase({ storage: disk });
    disk.fail({ on: 'read', code: 'storage_lost' });
    const read = new again.Collection(ORDERS).count();
    await expect(read).rejects.toMatchObject({ code: 'storage_lost' });
    disk.repair();
  });

  test('fails at open: a busy database rejects each call', async () => {
    const storage = testStorage();
    storage.fail({ on: 'open', code: 'storage_timeout' });
    const db = testDatabase({ storage });
    await expect(new db.Collection(ORDERS).count()).rejects.toMatchObject({
      code: 'storage_timeout',
    });
  });

  test('fails as many times as it is told', async () => {
    const { orders, disk } = open();
    await orders.insert({ n: 1 });
    disk.fail({ times: 2 });
    for (let n = 0; n < 2; n++) {
      await expect(orders.save()).rejects.toMatchObject({ code: 'storage_full' });
    }
    await orders.save();
  });

  test('held writes wait, and nothing else does', async () => {
    const { db, disk } = open();
    const orders = new db.Collection({ ...ORDERS, save_directly_after: 1 });
    const [first, second] = [disk.holdWrites(), disk.holdWrites()];
    await orders.insert({});
    first();
    expect(await orders.count()).toBe(1);
    expect([disk.writes, db.status.unsaved]).toEqual([0, 1]);
    second();
    await orders.save();
    expect([disk.writes, db.status.unsaved]).toEqual([1, 0]);
    disk.holdWrites();
    first();
    second();
    await orders.insert({});
    expect([disk.writes, db.status.unsaved]).toEqual([1, 1]);
    disk.repair();
    await orders.save();
    expect([disk.writes, db.status.unsaved]).toEqual([2, 0]);
  });

  test.each([
    [{ on: 'close' }, 'option_invalid'],
    [{ code: 'storage_ful' }, 'option_invalid'],
    [{ times: 0 }, 'option_invalid'],
    [{ time: 1 }, 'option_unknown'],
  ])('fail() refuses %j', (fault, code) => {
    expect(() => testStorage().fail(fault as never)).toThrow(expect.objectContaining({ code }));
  });
});

describe('testBrowser', () => {
  test('tabs share data, live queries and a leader', async () => {
    const browser = testBrowser();
    const [one, two] = [browser.openTab(), browser.openTab()];
    const [mine, theirs] = [new one.Collection(ORDERS), new two.Collection(ORDERS)];
    await mine.ready;
    const seen = new Promise<void>((resolve) => {
      const live = theirs.liveCount();
      live.subscribe(({ data }) => data === 1 && resolve());
    });
    await mine.insert({ _id: 'a' });
    await seen;
    expect(await theirs.get('a')).toMatchObject({ _id: 'a' });
    expect([one.status.leader, two.status.leader]).toEqual([true, false]);
    expect(two.status).toMatchObject({ engine: 'tab', tabs: 1 });
  });

  test('when the leader closes, another tab leads and has all changes', async () => {
    const browser = testBrowser();
    const [one, two] = [browser.openTab(), browser.openTab()];
    const [mine, theirs] = [new one.Collection(ORDERS), new two.Collection(ORDERS)];
    await Promise.all([mine.insert({ _id: 'a' }), theirs.insert({ _id: 'b' })]);
    await one.close();
    expect(await theirs.count()).toBe(2);
    expect(two.status).toMatchObject({ leader: true, engine: 'thread' });
    const three = browser.openTab();
    expect(await new three.Collection(ORDERS).count()).toBe(2);
  });

  test('two browsers, and databases of two names, share nothing', async () => {
    const browser = testBrowser();
    const tabs = [browser.openTab(), browser.openTab({ name: 'b' }), testBrowser().openTab()];
    for (const db of tabs) {
      const orders = new db.Collection(ORDERS);
      await orders.insert({ _id: 'a' });
      expect(await orders.count()).toBe(1);
    }
  });

  test('a full disk reaches the other tab', async () => {
    const browser = testBrowser();
    const [one, two] = [browser.openTab(), browser.openTab()];
    await one.ready;
    const orders = new two.Collection({ ...ORDERS, ...NEVER });
    await orders.insert({});
    browser.disk.fail();
    await expect(orders.save()).rejects.toMatchObject({ code: 'storage_full' });
  });

  test('time passes in all tabs', async () => {
    const clock = new FakeClock();
    const browser = testBrowser({ clock });
    const [one, two] = [browser.openTab(), browser.openTab()];
    await one.ready;
    const orders = new two.Collection({ ...ORDERS, save_timeout: 5 });
    await orders.insert({});
    expect(two.status.unsaved).toBe(1);
    await clock.advance(5000);
    expect([one.status.unsaved, two.status.unsaved]).toEqual([0, 0]);
  });
});
