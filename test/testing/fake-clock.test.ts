import { afterEach, describe, expect, test } from 'vitest';
import { closeTestDatabases, FakeClock, testDatabase } from '../../src/testing/index.ts';

afterEach(closeTestDatabases);

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;
const ORDERS = { name: 'orders', type: 'DOCUMENT_BASED' } as const;

function open(options: object = {}, clock = new FakeClock('2030-03-01T12:00')) {
  const db = testDatabase({ clock });
  const orders = new db.Collection<{ n: number }>({ ...ORDERS, ...options });
  return { clock, db, orders };
}

describe('a database with a FakeClock', () => {
  test('saves when the time has come, not before', async () => {
    const { clock, db, orders } = open({ save_timeout: 5 });
    await orders.insert({ n: 1 });
    await clock.advance(4999);
    expect(db.status.unsaved).toBe(1);
    await clock.advance(1);
    expect(db.status.unsaved).toBe(0);
    expect(db.disk.writes).toBe(1);
  });

  test('save() waits for no clock', async () => {
    const { db, orders } = open({ save_timeout: 5 });
    await orders.insert({ n: 1 });
    await orders.save();
    expect(db.status.unsaved).toBe(0);
  });

  test('retries a failed save', async () => {
    const { clock, db, orders } = open({ save_timeout: 1 });
    await orders.insert({ n: 1 });
    db.disk.fail({ times: 1 });
    await clock.advance(SECOND);
    expect(db.status.last_error).toMatchObject({ code: 'storage_full' });
    await clock.advance(10 * SECOND);
    expect(db.status).toMatchObject({ unsaved: 0, last_error: undefined });
  });

  test('stamps documents with its time', async () => {
    const clock = new FakeClock(new Date('2031-05-06T07:08:09Z'));
    const db = testDatabase({ clock });
    const orders = new db.Collection({ ...ORDERS, indicate_created_at: true });
    const { _created_at } = await orders.insert({});
    expect(_created_at).toEqual(new Date('2031-05-06T07:08:09Z'));
    await clock.advance(90 * SECOND);
    expect((await orders.insert({}))._created_at).toEqual(new Date('2031-05-06T07:09:39Z'));
  });

  test('makes a backup a day, and lets old ones expire', async () => {
    const { clock, orders } = open({ auto_create_backup: true, backup_retention_time: 3 });
    for (let n = 0; n < 6; n++) {
      await orders.insert({ n });
      await clock.advance(DAY);
    }
    const backups = await orders.listBackups();
    expect(backups.every(({ automatic }) => automatic)).toBe(true);
    const days = backups.map(({ created_at }) => new Date(created_at).getDate());
    expect(days).toEqual([6, 5, 4]);
  });

  test('setTime changes the time and fires nothing', async () => {
    const { clock, db, orders } = open({ save_timeout: 5 });
    await orders.insert({ n: 1 });
    clock.setTime('2040-01-01T00:00:00Z');
    await clock.advance(0);
    expect(new Date(clock.now()).getUTCFullYear()).toBe(2040);
    expect(db.status.unsaved).toBe(1);
  });
});

describe('advance', () => {
  test('fires timers in order, and those that they start', async () => {
    const clock = new FakeClock(0);
    const fired: string[] = [];
    const note = (name: string) => () => void fired.push(`${name} ${clock.now()}`);
    clock.after(20, note('b'));
    clock.after(10, () => {
      note('a')();
      clock.after(5, note('c'));
    });
    clock.after(20, note('d'));
    const cancel = clock.after(1, note('never'));
    cancel();
    await clock.advance(25);
    expect(fired).toEqual(['a 10', 'c 15', 'b 20', 'd 20']);
    expect(clock.now()).toBe(25);
  });

  test('one call after the other', async () => {
    const clock = new FakeClock(0);
    const fired: number[] = [];
    for (const ms of [10, 20, 30]) clock.after(ms, () => fired.push(clock.now()));
    await Promise.all([clock.advance(15), clock.advance(15)]);
    expect(fired).toEqual([10, 20, 30]);
    expect(clock.now()).toBe(30);
  });

  test('rejects with the exception of a timer, and goes on at the next call', async () => {
    const clock = new FakeClock(0);
    clock.after(10, () => {
      throw new Error('from the timer');
    });
    await expect(clock.advance(20)).rejects.toThrow('from the timer');
    await clock.advance(5);
    expect(clock.now()).toBe(15);
  });

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('refuses %s ms', (ms) => {
    expect(() => new FakeClock().advance(ms)).toThrow(
      expect.objectContaining({ code: 'option_invalid' }),
    );
  });
});

test.each(['yesterday', Number.NaN, null, {}])('new FakeClock(%j) is refused', (now) => {
  expect(() => new FakeClock(now as never)).toThrow(
    expect.objectContaining({ code: 'option_invalid' }),
  );
});
