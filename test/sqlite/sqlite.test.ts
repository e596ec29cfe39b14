import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Database } from '../../src/index.ts';
import { type SqliteDriver, sqlite } from '../../src/sqlite/index.ts';
import { storageDriverSuite } from '../../src/testing/index.ts';
import { bridge, type Faults, openSqlite } from './bridge.ts';

describe('without promises', async () => {
  storageDriverSuite(sqlite(await openSqlite()), { describe, test });
});

describe('through a bridge with delays', async () => {
  storageDriverSuite(sqlite(bridge(await openSqlite())), { describe, test });
});

function open(driver: SqliteDriver, name = 'shop') {
  const db = new Database({ name, storage: sqlite(driver) });
  return {
    db,
    things: new db.Collection<{ n: number }>({ name: 'things', type: 'DOCUMENT_BASED' }),
  };
}

const noEvents = { damaged: () => undefined };

/** Has one document of a start of the app that has ended. */
async function filled(): Promise<SqliteDriver> {
  const driver = await openSqlite();
  const { db, things } = open(driver);
  await things.insert({ n: 1 });
  await db.close();
  return driver;
}

/** What another start of the app finds. */
async function stored(driver: SqliteDriver): Promise<number[]> {
  const { db, things } = open(driver);
  const found = await things.filter({}, { sort: { n: 1 } });
  await db.close();
  return found.map(({ n }) => n);
}

test('two tables stand beside those of the app, for any number of databases', async () => {
  const driver = await openSqlite();
  driver.run('CREATE TABLE mine (n INTEGER)', []);
  for (const name of ['shop', 'Shop', 'kiosk']) {
    const { db, things } = open(driver, name);
    await things.insert({ n: name.length });
    await db.close();
  }
  const tables = await driver.all("SELECT name FROM sqlite_master WHERE type = 'table'", []);
  expect(tables.map((row) => (row as { name: string }).name).sort()).toEqual([
    'cairn_databases',
    'cairn_values',
    'mine',
  ]);
  const { db } = open(driver, 'Shop');
  await db.destroy();
  expect(await driver.all('SELECT name FROM cairn_databases ORDER BY name', [])).toEqual([
    { name: '"kiosk"' },
    { name: '"shop"' },
  ]);
});

test('a value of several megabytes is in several rows', async () => {
  const driver = await openSqlite();
  const { db } = open(driver);
  const large = new db.Collection<{ bytes: Uint8Array }>({ name: 'large', type: 'DOCUMENT_BASED' });
  const bytes = Uint8Array.from({ length: 3_000_000 }, (_, at) => at % 251);
  await large.insert({ _id: 'a', bytes });
  await db.close();
  const [{ most }] = (await driver.all('SELECT MAX(LENGTH(v)) most FROM cairn_values', [])) as [
    { most: number },
  ];
  expect(most).toBe(1024 * 1024);
  const { db: later } = open(driver);
  const read = new later.Collection<{ bytes: Uint8Array }>({
    name: 'large',
    type: 'DOCUMENT_BASED',
  });
  // toEqual compares byte by byte, for ten seconds.
  expect(Buffer.compare((await read.get('a'))?.bytes as Uint8Array, bytes)).toBe(0);
  await later.close();
});

describe('a bridge', () => {
  /** A bridge that fails once, from the next message on whose SQL matches. */
  async function faulty(pattern: RegExp, message: string, when: 'before' | 'after') {
    const driver = await openSqlite();
    const state = { isArmed: false };
    const faults: Faults = {
      [when]: (sql: string) => {
        if (!state.isArmed || !pattern.test(sql)) return;
        state.isArmed = false;
        throw new Error(message);
      },
    };
    return { driver, state, ...open(bridge(driver, faults)) };
  }

  test.each([
    ['connection to the database was lost', 'storage_lost'],
    ['SQLITE_FULL: database or disk is full', 'storage_full'],
    ['SQLITE_BUSY: database is locked', 'database_busy'],
    ['database disk image is malformed', 'data_damaged'],
    ['out of memory', 'storage_failed'],
  ])('that fails with "%s" rejects with %s, and the next save stores all', async (said, code) => {
    const { driver, state, db, things } = await faulty(
      /^INSERT INTO cairn_databases/,
      said,
      'before',
    );
    await things.insert({ n: 1 });
    await things.save();
    state.isArmed = true;
    await things.insert({ n: 2 });
    await expect(things.save()).rejects.toMatchObject({ code });
    await db.save();
    await db.close();
    expect(await stored(driver)).toEqual([1, 2]);
  });

  test('whose answer is lost after the write has stored it', async () => {
    const lost = 'connection lost';
    const { driver, state, db, things } = await faulty(
      /^INSERT INTO cairn_databases/,
      lost,
      'after',
    );
    await things.insert({ n: 1 });
    await things.save();
    state.isArmed = true;
    await things.insert({ n: 2 });
    await things.save();
    await things.insert({ n: 3 });
    await db.close();
    expect(await stored(driver)).toEqual([1, 2, 3]);
  });

  test('whose answer is lost, and that of the question whether the write was made', async () => {
    const driver = await openSqlite();
    let isLost = false;
    let isArmed = false;
    const lose = () => {
      if (isLost) throw new Error('connection lost');
    };
    const faults: Faults = {
      before: lose,
      after: (sql) => {
        if (isArmed && /^INSERT INTO cairn_databases/.test(sql)) isLost = true;
        lose();
      },
    };
    const { db, things } = open(bridge(driver, faults));
    await things.insertMany([
      { _id: 'a', n: 1 },
      { _id: 'b', n: 2 },
    ]);
    await things.save();
    isArmed = true;
    await things.insert({ _id: 'c', n: 3 });
    await things.delete('a');
    await expect(things.save()).rejects.toMatchObject({ code: 'storage_lost' });
    isArmed = isLost = false;
    await things.delete('c'); // it is stored, and this engine does not know
    await things.insert({ _id: 'd', n: 4 });
    await db.save();
    await db.close();
    expect(await stored(driver)).toEqual([2, 4]);
  });

  test('that answers nothing more rejects with storage_lost, and a late write changes nothing', async () => {
    const driver = await openSqlite();
    const late: (() => unknown)[] = [];
    let isSilent = false;
    const ask = <T>(work: () => T): Promise<T> => {
      if (!isSilent) return Promise.resolve().then(work);
      late.push(work);
      return new Promise(() => undefined);
    };
    const silent: SqliteDriver = {
      run: (sql, params) => ask(() => driver.run(sql, params)),
      all: (sql, params) => ask(() => driver.all(sql, params) as readonly object[]),
      transaction: (statements) => ask(() => driver.transaction(statements)),
    };
    const { db, things } = open(silent);
    await things.insert({ n: 1 });
    await db.save();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    isSilent = true;
    await things.insert({ n: 2 });
    const saved = things.save().catch((error: unknown) => error);
    // The write, then the question whether it was made.
    await vi.advanceTimersByTimeAsync(60_000);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await saved).toMatchObject({ name: 'StorageError', code: 'storage_lost' });
    vi.useRealTimers();
    isSilent = false;
    await db.save();
    for (const work of late.slice(0, 1)) expect(work).toThrow(/NOT NULL constraint/);
    await db.close();
    expect(await stored(driver)).toEqual([1, 2]);
  });

  test('that repeats an old write changes nothing', async () => {
    const driver = await openSqlite();
    const writes: (() => unknown)[] = [];
    const repeating: SqliteDriver = {
      ...driver,
      transaction: (statements) => {
        writes.push(() => driver.transaction(statements));
        return driver.transaction(statements);
      },
    };
    const { db, things } = open(repeating);
    const { _id } = await things.insert({ n: 1 });
    await things.save();
    await things.patch(_id, { n: 2 });
    await db.close();
    for (const write of writes.slice(1)) expect(write).toThrow(/NOT NULL constraint/);
    expect(await stored(driver)).toEqual([2]);
  });

  const wrongRows: [string, (rows: readonly object[]) => unknown][] = [
    ['each row twice', (rows) => [...rows, ...rows]],
    ['the rows of another statement', () => [{ k: '01', part: 0, v: [1, 2, 3, 4] }]],
    ['no rows but an object', () => ({ values: [] })],
    ['rows as lists', (rows) => rows.map(Object.values)],
  ];

  // Each waits until the connection is given up.
  test.concurrent.each(wrongRows)(
    'that answers with %s rejects with storage_failed',
    async (_, rows) => {
      const driver = await filled();
      const isValues = (sql: string) => /^SELECT k, part/.test(sql);
      const wrong = bridge(driver, { rows: (found, sql) => (isValues(sql) ? rows(found) : found) });
      const { db, things } = open(wrong);
      await expect(things.count()).rejects.toMatchObject({ code: 'storage_failed' });
      await db.close().catch(() => undefined);
      expect(await stored(driver)).toEqual([1]);
    },
  );

  test.concurrent.each(wrongRows)(
    'that answers for marks and keys with %s does so, too',
    async (_, rows) => {
      const driver = await filled();
      for (const wrongly of [/^SELECT mark/, /^SELECT k FROM/]) {
        const wrong = bridge(driver, {
          rows: (found, sql) => (wrongly.test(sql) ? rows(found) : found),
        });
        const { db, things } = open(wrong);
        const error = await things.count().catch((cause: unknown) => cause);
        if (error instanceof Error) expect(error).toMatchObject({ code: 'storage_failed' });
        else expect(error).toBe(1);
        await db.close().catch(() => undefined);
      }
      const storage = sqlite(bridge(driver, { rows }));
      for (const asked of [storage.open('shop', noEvents), storage.open('new', noEvents)])
        await expect(asked).rejects.toMatchObject({ code: 'storage_failed' });
      expect(await stored(driver)).toEqual([1]);
    },
  );
});

test('a second process that takes over loses nothing to the first', async () => {
  const driver = await openSqlite();
  const first = open(driver);
  await first.things.insert({ n: 1 });
  await first.things.save();
  // Another object is another process: it shares no engine with the first.
  const second = open({ ...driver });
  await second.things.insert({ n: 2 });
  await second.things.save();
  await second.db.close();
  // Its engine is fenced: it opens the database anew, and makes the change again there.
  await first.things.insert({ n: 3 });
  await first.db.close();
  expect(await stored(driver)).toEqual([1, 2, 3]);
});

test('what a second process deletes stays deleted, whatever the first still writes', async () => {
  const driver = await openSqlite();
  const first = open(driver);
  await first.things.insert({ n: 1 });
  await first.things.save();
  await open({ ...driver }).db.destroy();
  await first.things.insert({ n: 2 });
  await expect(first.things.save()).rejects.toMatchObject({ code: 'database_destroyed' });
  await first.db.close().catch(() => undefined);
  expect(await stored(driver)).toEqual([]);
});

describe('a database of a newer version', () => {
  const marked = async (driver: SqliteDriver) => {
    const [row] = await driver.all('SELECT mark FROM cairn_databases', []);
    return (row as { mark: string }).mark;
  };
  const mark = (driver: SqliteDriver, as: string) =>
    driver.run('UPDATE cairn_databases SET mark = ?', [as]);

  test('rejects with format_newer, and stays as it is', async () => {
    const driver = await filled();
    const written = await marked(driver);
    expect(written).toMatch(/^1:/);
    mark(driver, '2:later');
    const { db, things } = open(driver);
    const newer = { name: 'StorageError', code: 'format_newer', place: 'shop' };
    await expect(things.insert({ n: 2 })).rejects.toMatchObject(newer);
    await db.close().catch(() => undefined);
    expect(await marked(driver)).toBe('2:later');
    // Before formats had numbers.
    mark(driver, written.slice(2));
    expect(await stored(driver)).toEqual([1]);
  });

  test('that a newer process has taken over refuses what the older one writes', async () => {
    const driver = await openSqlite();
    const { db, things } = open(driver);
    await things.insert({ n: 1 });
    await things.save();
    mark(driver, '2:later');
    await things.insert({ n: 2 });
    await expect(things.save()).rejects.toMatchObject({ code: 'format_newer' });
    await db.close().catch(() => undefined);
    expect(await marked(driver)).toBe('2:later');
  });
});

test('a driver without one of its functions is refused', () => {
  for (const driver of [undefined, {}, { run() {}, all() {} }] as never[])
    expect(() => sqlite(driver)).toThrow(expect.objectContaining({ code: 'option_invalid' }));
});
