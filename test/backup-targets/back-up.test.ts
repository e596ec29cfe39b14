import { expect, test } from 'vitest';
import { restoreFrom } from '../../src/backup-targets/index.ts';
import { rejection } from '../contract/outcomes.ts';
import { backUpIn, newDatabase, newEnvironment, rowsFrom } from './device.ts';
import { MemoryTarget } from './memory-target.ts';

test('a backup is restored on another device, with every value, stamp and archived document', async () => {
  const { db, rows } = newDatabase();
  const odd = new db.Collection({
    name: 'ödd "names"',
    type: 'DOCUMENT_BASED',
    indicate_created_at: true,
  });
  const settings = new db.Collection({ name: 'settings', type: 'KEY_VALUE_BASED' });
  await rows.insertMany(rowsFrom(0, 1000));
  await odd.insertMany([
    { _id: 'a', at: new Date(5), map: new Map([[1, new Set([2])]]), big: 5n, none: undefined },
    { _id: 'b', bytes: new Uint8Array([1, 2, 3]) },
  ]);
  await odd.archive('b');
  await settings.set('theme', { dark: true });
  const target = new MemoryTarget();
  const { name, documents, uploaded_bytes, sent_bytes } = await backUpIn(
    newEnvironment(),
    db,
    target,
    { device: 'laptop' },
  ).run();
  expect(documents).toBe(1003);
  expect(uploaded_bytes).toBeGreaterThan(sent_bytes);
  expect(JSON.stringify([...target.objects.keys()])).not.toMatch(/rows|names|settings|shop/);

  const other = newDatabase();
  const progress: string[] = [];
  const restored = await restoreFrom(target, {
    db: other.db,
    onProgress: ({ step, done, total }) => {
      expect(done).toBeLessThanOrEqual(total);
      progress.push(`${step} ${done === total ? 'all' : 'some'}`);
    },
  });
  expect(restored).toMatchObject({ name, documents: 1003 });
  expect(progress).toContain('download all');
  expect(progress.at(-1)).toBe('import all');
  expect(await other.rows.filter({})).toEqual(await rows.filter({}));
  const again = new other.db.Collection({
    name: 'ödd "names"',
    type: 'DOCUMENT_BASED',
    indicate_created_at: true,
  });
  expect(await again.filter({}, { archived: true })).toEqual(
    await odd.filter({}, { archived: true }),
  );
  const values = new other.db.Collection({ name: 'settings', type: 'KEY_VALUE_BASED' });
  expect(await values.get('theme')).toEqual({ dark: true });
});

test('an empty database is backed up and restored', async () => {
  const target = new MemoryTarget();
  const { db } = newDatabase();
  await db.ready;
  expect(await backUpIn(newEnvironment(), db, target).run()).toMatchObject({ documents: 0 });
  expect(await restoreFrom(target, { db: newDatabase().db })).toMatchObject({ documents: 0 });
});

test('the next run uploads only what is new', async () => {
  const { db, rows } = newDatabase();
  await rows.insertMany(rowsFrom(0, 10_000));
  const target = new MemoryTarget();
  const remote = backUpIn(newEnvironment(), db, target);
  const first = await remote.run();
  expect(first.reused_bytes).toBe(0);
  await rows.insertMany(rowsFrom(10_000, 100));
  const second = await remote.run();
  expect(second.uploaded_bytes + second.reused_bytes).toBeGreaterThan(first.uploaded_bytes);
  // One part around the old end, and the new documents.
  expect(second.uploaded_bytes).toBeLessThan(first.uploaded_bytes / 4);
  expect(target.paths('backups')).toHaveLength(2);
});

test('nothing changed: no new backup, nothing uploaded', async () => {
  const { db, rows } = newDatabase();
  await rows.insertMany(rowsFrom(0, 500));
  const target = new MemoryTarget();
  const environment = newEnvironment();
  const remote = backUpIn(environment, db, target);
  const { name, unchanged } = await remote.run();
  expect(unchanged).toBe(false);
  const before = new Map(target.objects);
  await environment.clock.advance(86_400_000);
  expect(await remote.run()).toMatchObject({
    name,
    unchanged: true,
    uploaded_bytes: 0,
    sent_bytes: 0,
  });
  expect(target.objects).toEqual(before);
  await rows.patch('r0', { n: -1 });
  expect(await remote.run()).toMatchObject({ unchanged: false });
});

test('an older backup is restored by its name, and merged if asked', async () => {
  const { db, rows } = newDatabase();
  const target = new MemoryTarget();
  const environment = newEnvironment();
  const remote = backUpIn(environment, db, target);
  await rows.insert({ _id: 'a', n: 1 });
  const { name } = await remote.run();
  await environment.clock.advance(1000);
  await rows.update('a', { n: 2 });
  await remote.run();
  const list = await remote.list();
  expect(list.map(({ documents, own, problem }) => [documents, own, problem])).toEqual([
    [1, true, undefined],
    [1, true, undefined],
  ]);
  expect(list[1]).toMatchObject({ name, created_at: new Date(1_700_000_000_000) });
  const other = newDatabase();
  await other.rows.insert({ _id: 'b', n: 5 });
  await restoreFrom(target, { db: other.db, name, mode: 'merge' });
  expect(await other.rows.filter({}, { sort: { _id: 1 } })).toMatchObject([{ n: 1 }, { n: 5 }]);
  await restoreFrom(target, { db: other.db });
  expect(await other.rows.filter({})).toMatchObject([{ _id: 'a', n: 2 }]);
  // What was there before became a backup.
  expect(await other.rows.listBackups()).not.toEqual([]);
});

test('databases share a target and see only their own backups', async () => {
  const target = new MemoryTarget();
  const shop = newDatabase('shop');
  const blog = newDatabase('blog');
  await shop.rows.insert({ _id: 'a', n: 1 });
  const environment = newEnvironment();
  await backUpIn(environment, shop.db, target).run();
  const remote = backUpIn(environment, blog.db, target);
  expect(await remote.list()).toEqual([]);
  expect(await rejection(restoreFrom(target, { db: blog.db }))).toMatchObject({
    code: 'backup_unknown',
  });
  expect(await rejection(remote.verify())).toMatchObject({ code: 'backup_unknown' });
  await restoreFrom(target, { db: blog.db, database: 'shop' });
  expect(await blog.rows.count()).toBe(1);
  expect(await rejection(restoreFrom(target, { db: shop.db, name: 'other' }))).toMatchObject({
    code: 'backup_unknown',
    message: expect.stringMatching(/There are: \d{4}-/),
  });
});

test('runs of one device wait for each other', async () => {
  const { db, rows } = newDatabase();
  await rows.insertMany(rowsFrom(0, 300));
  const target = new MemoryTarget();
  const environment = newEnvironment();
  const one = backUpIn(environment, db, target);
  const two = backUpIn(environment, db, target);
  const runs = await Promise.all([one.run(), two.run(), one.run()]);
  expect(runs.map(({ unchanged }) => unchanged)).toEqual([false, true, true]);
  expect(target.paths('backups')).toHaveLength(1);
});

test('the status of the database shows its backups', async () => {
  const { db, rows } = newDatabase();
  await rows.insert({ n: 1 });
  const target = new MemoryTarget();
  const environment = newEnvironment();
  const remote = backUpIn(environment, db, target, { device: 'laptop' });
  const states: (string | undefined)[] = [];
  db.on('status', ({ backups }) => states.push(backups?.[0]?.state));
  await remote.run();
  await expect
    .poll(() => db.status.backups)
    .toMatchObject([
      {
        state: 'idle',
        device: 'laptop',
        last_run: new Date(environment.clock.now()),
        last_error: undefined,
      },
    ]);
  expect(states).toContain('running');
  target.before = () => {
    throw Object.assign(new Error('no room'), { name: 'QuotaExceededError' });
  };
  await rejection(remote.run());
  await expect
    .poll(() => db.status.backups?.[0]?.last_error)
    .toMatchObject({ code: 'target_full' });
  remote.stop();
  expect(remote.status.state).toBe('stopped');
  await expect.poll(() => db.status.backups).toEqual([]);
  expect(await rejection(remote.run())).toMatchObject({ code: 'target_stopped' });
  expect(await rejection(remote.list())).toMatchObject({ code: 'target_stopped' });
});

test('a device that is gone is forgotten, with its parts', async () => {
  const target = new MemoryTarget();
  const { db, rows } = newDatabase();
  await rows.insert({ n: 1 });
  const mine = backUpIn(newEnvironment(), db, target, { device: 'mine' });
  await mine.run();
  await backUpIn(newEnvironment(), db, target, { device: 'old' }).run();
  expect((await mine.list()).map(({ device, own }) => `${device} ${own}`).sort()).toEqual([
    'mine true',
    'old false',
  ]);
  await mine.forget('old');
  expect((await mine.list()).map(({ device }) => device)).toEqual(['mine']);
  expect([...target.objects.keys()].filter((path) => path.includes('/old/'))).toEqual([]);
});
