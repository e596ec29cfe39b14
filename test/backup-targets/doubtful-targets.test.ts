import { beforeEach, expect, test } from 'vitest';
import { restoreFrom, s3, webdav } from '../../src/backup-targets/index.ts';
import { encryptedTarget } from '../../src/encryption/index.ts';
import { rejection } from '../contract/outcomes.ts';
import { backUpIn, newDatabase, newEnvironment, rowsFrom } from './device.ts';
import { MemoryTarget } from './memory-target.ts';

const DAY = 86_400_000;

let target: MemoryTarget;
let shop: ReturnType<typeof newDatabase>;
let environment: ReturnType<typeof newEnvironment>;

beforeEach(() => {
  target = new MemoryTarget();
  shop = newDatabase();
  environment = newEnvironment();
});

test('of two backups of one second the later one is restored, and lists come in the order of making', async () => {
  const remote = backUpIn(environment, shop.db, target, { device: 'd' });
  const names: string[] = [];
  for (let n = 0; n < 8; n++) {
    await shop.rows.upsert({ _id: 'a', n });
    names.unshift((await remote.run()).name);
    // The clock is set back meanwhile.
    if (n === 4) environment.clock.jump(-400 * DAY);
  }
  expect((await remote.list()).map(({ name }) => name)).toEqual(names);
  await restoreFrom(target, { db: shop.db });
  expect(await shop.rows.get('a')).toMatchObject({ n: 7 });
});

test('a device whose clock is right makes the newest backup after one whose clock was ahead', async () => {
  const ahead = newEnvironment();
  ahead.clock.jump(3650 * DAY);
  await shop.rows.insert({ _id: 'a', n: 1 });
  await backUpIn(ahead, shop.db, target, { device: 'ahead' }).run();
  await shop.rows.update('a', { n: 2 });
  const { name } = await backUpIn(environment, shop.db, target, { device: 'right' }).run();
  expect(await restoreFrom(target, { db: newDatabase().db })).toMatchObject({ name });
});

/** Lists lack what the last put has stored. */
const lagging = () => {
  const list = target.list.bind(target);
  target.list = async (prefix) =>
    (await list(prefix)).filter((path) => path !== target.puts.at(-1));
};
const empty = () => {
  target.list = async () => [];
};

test.each([
  ['lacks the last object', lagging],
  ['is empty', empty],
])('a list that %s: the clean-up removes nothing that a backup needs', async (_, make) => {
  const honest = target.list.bind(target);
  const remote = backUpIn(environment, shop.db, target, { device: 'd', retention_days: 1 });
  const names: string[] = [];
  for (let day = 0; day < 5; day++) {
    await shop.rows.deleteMany({});
    await shop.rows.insertMany(rowsFrom(day * 1000, 300));
    if (day === 1) make();
    names.push((await remote.run()).name);
    await environment.clock.advance(DAY);
  }
  target.list = honest;
  for (const name of names.slice(-2))
    expect(await remote.verify(name)).toMatchObject({ whole: true });
});

test('a part that is listed after it was removed is stored again when a backup needs it', async () => {
  const options = { device: 'd', retention_days: 1 };
  const run = async (first: number) => {
    // A new database each time, so that the same documents make the same parts.
    const { db, rows } = newDatabase();
    await rows.insertMany(rowsFrom(first, 300));
    await backUpIn(environment, db, target, options).run();
    await environment.clock.advance(DAY);
  };
  const list = target.list.bind(target);
  const ever = new Set<string>();
  target.list = async (prefix) => {
    for (const path of await list(prefix)) ever.add(path);
    // Removed parts stay in the list.
    const isOfParts = prefix.includes('/parts/');
    return isOfParts ? [...ever].filter((path) => path.startsWith(prefix)) : list(prefix);
  };
  for (const first of [0, 1000, 2000, 3000]) await run(first);
  const removed = [...ever].filter((path) => !target.objects.has(path) && path.includes('/parts/'));
  expect(removed.length).toBeGreaterThan(0);
  const before = target.puts.length;
  await run(0);
  const stored = target.puts.slice(before).filter((path) => path.includes('/parts/'));
  expect(stored.length).toBeGreaterThan(0);
  expect(removed).toEqual(expect.arrayContaining(stored));
  const reader = backUpIn(newEnvironment(), shop.db, target, { device: 'reader' });
  expect(await reader.verify()).toMatchObject({ whole: true });
});

test.each(['as it is', 'encrypted'])(
  'a part that verify() found damaged is stored again by the next run, of a later page too: %s',
  async (kind) => {
    const open = () =>
      kind === 'encrypted' ? encryptedTarget(target, { key: new Uint8Array(32).fill(3) }) : target;
    await shop.rows.insertMany(rowsFrom(0, 5000));
    const remote = backUpIn(environment, shop.db, open(), { device: 'd' });
    const { name } = await remote.run();
    const damaged = target.paths('parts').slice(0, 2);
    for (const path of damaged) target.objects.set(path, new Uint8Array([4, 4, 4]));
    expect(await remote.verify()).toMatchObject({
      name,
      whole: false,
      problem: { code: 'target_damaged', place: damaged[0] },
    });
    remote.stop();
    const later = backUpIn(environment, shop.db, open(), { device: 'd' });
    expect(await later.run()).toMatchObject({ name, unchanged: true });
    expect(target.puts.slice(-2).sort()).toEqual(damaged);
    expect(await later.verify()).toMatchObject({ whole: true });
    expect([...target.objects.keys()].filter((path) => path.includes('/notes/'))).toEqual([]);
  },
);

test('verify() in a target that may only be read says what is damaged, and reports why it is not noted', async () => {
  await shop.rows.insertMany(rowsFrom(0, 300));
  const remote = backUpIn(environment, shop.db, target, { device: 'd' });
  await remote.run();
  target.objects.delete(target.paths('parts')[0] as string);
  target.before = (method) => {
    if (method === 'put') throw Object.assign(new Error('read only'), { name: 'NotAllowedError' });
  };
  const errors: unknown[] = [];
  remote.on('error', ({ error }) => errors.push(error));
  expect(await remote.verify()).toMatchObject({ whole: false });
  expect(errors).toMatchObject([{ code: 'target_denied' }]);
});

test('a damaged manifest of an encrypted target is one backup that cannot be read, not all', async () => {
  const sealed = encryptedTarget(target, { key: new Uint8Array(32).fill(3) });
  const remote = backUpIn(environment, shop.db, sealed, { device: 'd' });
  await shop.rows.insert({ n: 1 });
  await remote.run();
  await shop.rows.insert({ n: 2 });
  await remote.run();
  target.objects.set(target.paths('backups')[1] as string, new Uint8Array([4]));
  const reader = backUpIn(newEnvironment(), shop.db, sealed, { device: 'reader' });
  expect((await reader.list()).map(({ problem }) => problem?.code)).toEqual([
    'target_damaged',
    undefined,
  ]);
  expect(await reader.verify()).toMatchObject({ whole: false });
  // Where the key opens nothing, it is the key.
  const other = encryptedTarget(target, { key: new Uint8Array(32) });
  const stranger = backUpIn(newEnvironment(), shop.db, other, { device: 'reader' });
  expect(await rejection(stranger.list())).toMatchObject({ code: 'key_wrong' });
});

test('of the newest backups two that can be read are kept, beside those that cannot', async () => {
  const remote = backUpIn(environment, shop.db, target, { device: 'd', retention_days: 1 });
  const whole: string[] = [];
  for (let n = 0; n < 2; n++) {
    await shop.rows.insert({ n });
    whole.push((await remote.run()).name);
    await environment.clock.advance(1000);
  }
  for (let n = 0; n < 3; n++) {
    await environment.clock.advance(3 * DAY);
    // Another program writes over each new one.
    await shop.rows.insert({ n });
    await backUpIn(environment, shop.db, target, { device: 'd', retention_days: 1 }).run();
    target.objects.set(target.paths('backups').at(-1) as string, new Uint8Array([1]));
  }
  const reader = backUpIn(newEnvironment(), shop.db, target, { device: 'reader' });
  expect(await reader.verify(whole[1])).toMatchObject({ whole: true });
});

test('a schedule goes on after the newest backup was damaged', async () => {
  await shop.rows.insert({ n: 1 });
  const first = backUpIn(environment, shop.db, target, { device: 'd' });
  await first.run();
  target.objects.set(target.paths('backups')[0] as string, new Uint8Array([1]));
  await shop.rows.insert({ n: 2 });
  await shop.db.save();
  const remote = backUpIn(environment, shop.db, target, { device: 'd', every: 60 });
  const made = new Promise((resolve, reject) => {
    remote.on('backup', resolve);
    remote.on('error', ({ error }) => reject(error));
  });
  expect(await made).toMatchObject({ unchanged: false });
  remote.stop();
});

test('a page that answers in place of the server is no empty list', async () => {
  const fetch = async () => new Response('<html>Sign in to the network</html>', { status: 200 });
  const credentials = { region: 'eu', accessKeyId: 'a', secretAccessKey: 's' };
  for (const strange of [
    s3({ url: 'https://s3.example/bucket', ...credentials, fetch }),
    webdav({ url: 'https://dav.example/', fetch }),
  ])
    expect(await rejection(strange.list('a/'))).toMatchObject({ code: 'target_unreachable' });
});
