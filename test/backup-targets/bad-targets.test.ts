import { beforeEach, expect, test } from 'vitest';
import {
  type BackupTarget,
  backupTo,
  restoreFrom,
  TargetError,
} from '../../src/backup-targets/index.ts';
import { BackupError, OptionError } from '../../src/index.ts';
import { rejection } from '../contract/outcomes.ts';
import { backUpIn, newDatabase, newEnvironment, rowsFrom } from './device.ts';
import { MemoryTarget } from './memory-target.ts';

let target: MemoryTarget;
let shop: ReturnType<typeof newDatabase>;
let environment: ReturnType<typeof newEnvironment>;

beforeEach(async () => {
  target = new MemoryTarget();
  shop = newDatabase();
  environment = newEnvironment();
  await shop.rows.insertMany(rowsFrom(0, 900));
});

const named = (name: string, message = name) => Object.assign(new Error(message), { name });

function change(
  path: string | undefined,
  edit: (bytes: Uint8Array) => Uint8Array | undefined,
): void {
  const bytes = edit(target.objects.get(path as string) as Uint8Array);
  if (bytes) target.objects.set(path as string, bytes);
  else target.objects.delete(path as string);
}

const flipped = (bytes: Uint8Array) =>
  bytes.map((byte, at) => (at === bytes.length >> 1 ? byte ^ 1 : byte));
const text = (edit: (text: string) => string) => (bytes: Uint8Array) =>
  new TextEncoder().encode(edit(new TextDecoder().decode(bytes)));

test.each<[string, 'backups' | 'parts', (bytes: Uint8Array) => Uint8Array | undefined, string]>([
  ['a part that is missing', 'parts', () => undefined, 'target_damaged'],
  ['a part with one other bit', 'parts', flipped, 'target_damaged'],
  ['half a part', 'parts', (bytes) => bytes.slice(0, bytes.length >> 1), 'target_damaged'],
  ['an empty part', 'parts', () => new Uint8Array(), 'target_damaged'],
  [
    'a part that is something else',
    'parts',
    () => new TextEncoder().encode('<html>'),
    'target_damaged',
  ],
  ['a manifest with one other bit', 'backups', flipped, 'target_damaged'],
  ['half a manifest', 'backups', (bytes) => bytes.slice(0, bytes.length >> 1), 'target_damaged'],
  [
    'a manifest with another hash',
    'backups',
    text((it) => it.replace(/"[0-9a-f]{64}"/, `"${'0'.repeat(64)}"`)),
    'target_damaged',
  ],
  ['an empty manifest', 'backups', () => new Uint8Array(), 'target_foreign'],
  [
    'another file',
    'backups',
    () => new TextEncoder().encode('{"format":"other"}\n{}\n'),
    'target_foreign',
  ],
])(
  '%s: restore refuses, nothing is changed, verify and list say so, and others restore',
  async (_, kind, edit, code) => {
    const remote = backUpIn(environment, shop.db, target, { device: 'd' });
    const { name: older } = await remote.run();
    await environment.clock.advance(1000);
    await shop.rows.insertMany(rowsFrom(900, 900));
    const before = new Set([...target.objects.keys()]);
    const { name } = await remote.run();
    const fresh = [...target.objects.keys()].filter(
      (path) => !before.has(path) && path.includes(kind),
    );
    change(fresh[0], edit);

    const other = newDatabase();
    await other.rows.insert({ _id: 'mine', n: 1 });
    const error = await rejection(restoreFrom(target, { db: other.db }));
    expect(error).toBeInstanceOf(TargetError);
    expect(error).toMatchObject({ code });
    expect(await other.rows.filter({})).toMatchObject([{ _id: 'mine' }]);

    const reader = backUpIn(newEnvironment(), other.db, target);
    expect(await reader.verify()).toMatchObject({ name, whole: false, problem: { code } });
    expect(await reader.verify(older)).toEqual({ name: older, whole: true, problem: undefined });
    const [newest] = await reader.list();
    if (kind === 'backups') expect(newest).toMatchObject({ name, documents: 0, problem: { code } });
    await restoreFrom(target, { db: other.db, name: older });
    expect(await other.rows.count()).toBe(900);
  },
);

test('a backup of a later version is refused by name, and its parts are never removed', async () => {
  const remote = backUpIn(environment, shop.db, target, { device: 'd', retention_days: 1 });
  await remote.run();
  const [path] = target.paths('backups');
  const lines = new TextDecoder().decode(target.objects.get(path as string)).split('\n');
  const line = (lines[0] as string)
    .replace('"format_number":1', '"format_number":2')
    .replace(/"version":"[^"]+"/, '"version":"9.9.9"');
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(line));
  const hash = Buffer.from(digest).toString('hex');
  target.objects.set(path as string, new TextEncoder().encode(`${line}\n{"sha256":"${hash}"}\n`));
  const parts = target.paths('parts');
  expect(await rejection(restoreFrom(target, { db: newDatabase().db }))).toMatchObject({
    code: 'target_newer',
    message: expect.stringContaining('cairndb 9.9.9'),
  });
  for (let day = 0; day < 4; day++) {
    await environment.clock.advance(2 * 86_400_000);
    await shop.rows.patchMany({}, { n: day });
    await backUpIn(environment, shop.db, target, { device: 'd', retention_days: 1 }).run();
  }
  expect(target.paths('parts')).toEqual(expect.arrayContaining(parts));
  expect(target.objects.has(path as string)).toBe(true);
});

test('files that people leave in a folder are no backups, and stay', async () => {
  const remote = backUpIn(environment, shop.db, target, { device: 'd' });
  await remote.run();
  const [path = ''] = target.paths('backups');
  const strange = [path.replace(/[^/]+$/, '.ds_store'), path.replace('.json', ' (copy).json')];
  for (const each of strange) target.objects.set(each, new Uint8Array([1]));
  await remote.run();
  expect(await remote.list()).toHaveLength(1);
  for (const each of strange) expect(target.objects.has(each)).toBe(true);
});

test.each([
  ['QuotaExceededError', 'target_full', 1],
  ['NotAllowedError', 'target_denied', 1],
  ['TypeError', 'target_unreachable', 4],
])(
  'a target that fails with %s: %s, after %i attempts; the older backup stays whole',
  async (name, code, attempts) => {
    const remote = backUpIn(environment, shop.db, target, { device: 'd' });
    const errors: unknown[] = [];
    remote.on('error', ({ error }) => errors.push(error));
    const older = await remote.run();
    await shop.rows.insertMany(rowsFrom(900, 900));
    let tried = 0;
    target.before = (method) => {
      if (method !== 'put') return;
      tried++;
      throw named(name, 'says the disk');
    };
    const running = rejection(remote.run());
    await expect
      .poll(async () => {
        await environment.clock.advance(60_000);
        return remote.status.state;
      })
      .toBe('idle');
    const error = await running;
    expect(error).toMatchObject({ code, message: expect.stringContaining('says the disk') });
    expect(errors).toEqual([error]);
    expect(tried % attempts).toBe(0);
    expect(remote.status.last_error).toBe(error);
    target.before = () => undefined;
    expect((await remote.list()).map(({ name: listed }) => listed)).toEqual([older.name]);
    expect(await remote.verify()).toMatchObject({ whole: true });
    // The next run uploads the rest.
    await remote.run();
    expect(remote.status.last_error).toBeUndefined();
    expect(await remote.list()).toHaveLength(2);
  },
);

test('a call that fails for now is tried again', async () => {
  const fails = new Map<string, number>();
  target.before = (method, path) => {
    const times = fails.get(method + path) ?? 0;
    fails.set(method + path, times + 1);
    if (times < 2) throw new TargetError('target_unreachable', 'later');
  };
  const remote = backUpIn(environment, shop.db, target);
  const running = remote.run();
  await expect
    .poll(async () => {
      await environment.clock.advance(5000);
      return remote.status.state;
    })
    .toBe('idle');
  expect(await running).toMatchObject({ unchanged: false });
});

test('a target that never answers is given up, and never blocks for ever', async () => {
  target.before = () => new Promise(() => undefined);
  const remote = backUpIn(environment, shop.db, target, { timeout: 5 });
  const running = rejection(remote.run());
  await expect
    .poll(async () => {
      await environment.clock.advance(60_000);
      return remote.status.state;
    })
    .toBe('idle');
  expect(await running).toMatchObject({
    code: 'target_unreachable',
    message: expect.stringContaining('5 seconds'),
  });
});

test('a signal ends a run with its reason, and stop() with target_stopped', async () => {
  target.before = (method) => (method === 'put' ? new Promise(() => undefined) : undefined);
  const remote = backUpIn(environment, shop.db, target);
  const controller = new AbortController();
  const running = rejection(remote.run({ signal: controller.signal }));
  const waiting = rejection(remote.run());
  await expect.poll(() => remote.status.state).toBe('running');
  const reason = new Error('enough');
  controller.abort(reason);
  expect(await running).toBe(reason);
  expect(remote.status.last_error).toBeUndefined();
  remote.stop();
  expect(await waiting).toMatchObject({ code: 'target_stopped' });
  expect(await rejection(remote.run({ signal: controller.signal }))).toMatchObject({
    code: 'target_stopped',
  });
  expect(target.objects.size).toBe(0);
});

test.each<[string, Partial<BackupTarget>]>([
  ['list() gives no list', { list: async () => 'a' as never }],
  ['list() gives objects', { list: async () => [{ key: 'a' }] as never }],
  ['get() gives a string', { get: async () => 'text' as never }],
])('a target of the wrong kind: %s', async (_, wrong) => {
  await backUpIn(environment, shop.db, target).run();
  const odd: BackupTarget = {
    put: (path, bytes) => target.put(path, bytes),
    get: (path) => target.get(path),
    list: (prefix) => target.list(prefix),
    delete: (path) => target.delete(path),
    ...wrong,
  };
  expect(await rejection(restoreFrom(odd, { db: shop.db }))).toMatchObject({
    code: 'target_refused',
  });
});

test('an error of another family arrives as it is: that of a wrong key, say', async () => {
  const wrong = new BackupError('backup_damaged', 'The key is wrong.');
  let calls = 0;
  target.before = () => {
    calls++;
    throw wrong;
  };
  expect(await rejection(backUpIn(environment, shop.db, target).list())).toBe(wrong);
  expect(calls).toBe(1);
});

test('a lost part is noticed before a backup names it', async () => {
  const remote = backUpIn(environment, shop.db, target, { device: 'd' });
  await remote.run();
  await shop.rows.insert({ _id: 'new', n: -1 });
  // A copy of the profile removes what it takes for garbage.
  let lists = 0;
  target.before = (method, path) => {
    if (method === 'list' && path.includes('/parts/') && ++lists === 2)
      target.objects.delete(target.paths('parts')[0] as string);
  };
  expect(await rejection(remote.run())).toMatchObject({ code: 'target_damaged' });
  target.before = () => undefined;
  expect(target.paths('backups')).toHaveLength(1);
  await remote.run();
  expect(await remote.verify()).toMatchObject({ whole: true });
});

test('wrong arguments are refused by name', async () => {
  const { db } = shop;
  const place = (name: string) => expect.objectContaining({ place: name });
  expect(() => backupTo({} as never, target)).toThrow(place('db'));
  expect(() => backupTo(db, {} as never)).toThrow(place('target'));
  expect(() => backupTo(db, target, { every: 5 })).toThrow(place('every'));
  expect(() => backupTo(db, target, { retention_days: 0 })).toThrow(place('retention_days'));
  expect(() => backupTo(db, target, { device: 'Über' })).toThrow(place('device'));
  expect(() => backupTo(db, target, { evry: 'day' } as never)).toThrow(/did you mean "every"/);
  const error = await rejection(restoreFrom(target, {} as never));
  expect(error).toBeInstanceOf(OptionError);
  expect(error).toMatchObject({ place: 'db' });
  expect(await rejection(restoreFrom({} as never, { db }))).toMatchObject({ place: 'target' });
});
