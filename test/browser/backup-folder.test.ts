import { afterEach, beforeEach, expect, test } from 'vitest';
import { backupTo, folder, restoreFrom } from '../../src/backup-targets/index.ts';
import { LastCheck } from '../../src/backup-targets/schedule/backup-schedule.ts';
import { deviceName, pageEnvironment } from '../../src/backup-targets/schedule/page-environment.ts';
import { Database } from '../../src/index.ts';

let name: string;
let root: FileSystemDirectoryHandle;
let directory: FileSystemDirectoryHandle;
const opened: Database[] = [];

beforeEach(async () => {
  name = `folder-${crypto.randomUUID()}`;
  root = await navigator.storage.getDirectory();
  directory = await root.getDirectoryHandle(name, { create: true });
});

afterEach(async () => {
  for (const db of opened.splice(0)) await db.destroy();
  await root?.removeEntry(name, { recursive: true }).catch(() => undefined);
});

function open(of: string) {
  const db = new Database({ name: of });
  opened.push(db);
  return { db, rows: new db.Collection<{ n: number }>({ name: 'rows', type: 'DOCUMENT_BASED' }) };
}

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'resolved',
    (error: { code?: string }) => error.code,
  );

test('a folder takes objects, gives them back, lists and removes them', async () => {
  const target = folder(directory);
  expect(target.id).toBe(`folder:${name}`);
  expect(await target.list('a/b/')).toEqual([]);
  expect(await target.get('a/b/none')).toBeUndefined();
  await target.put('a/b/one', new Uint8Array([1, 2]));
  await target.put('a/b/one', new Uint8Array([3]));
  await target.put('a/c/two', new Uint8Array([4]));
  expect((await target.list('a/')).sort()).toEqual(['a/b/one', 'a/c/two']);
  expect(await target.get('a/b/one')).toEqual(new Uint8Array([3]));
  // A put that was interrupted leaves an empty file, which is no object.
  const parent = await (await directory.getDirectoryHandle('a')).getDirectoryHandle('b');
  await parent.getFileHandle('half', { create: true });
  expect(await target.list('a/b/')).toEqual(['a/b/one']);
  expect(await target.get('a/b/half')).toBeUndefined();
  await target.delete('a/b/one');
  await target.delete('a/b/one');
  expect(await target.list('a/')).toEqual(['a/c/two']);
});

test('a database in IndexedDB is backed up to a folder, and restored after it was destroyed', async () => {
  const { db, rows } = open(name);
  await rows.insertMany(Array.from({ length: 2000 }, (_, n) => ({ _id: `r${n}`, n })));
  const before = await rows.filter({});
  const remote = backupTo(db, folder(directory));
  const { name: backup } = await remote.run();
  expect(await remote.verify()).toEqual({ name: backup, whole: true, problem: undefined });
  // Another page of this browser is the same device.
  expect((await remote.list()).map(({ own }) => own)).toEqual([true]);
  expect(localStorage.getItem('cairn:device')).toBe(remote.status.device);
  await db.destroy();
  const again = open(name);
  await restoreFrom(folder(directory), { db: again.db });
  expect(await again.rows.filter({})).toEqual(before);
});

test('a device keeps its name where an app clears localStorage', () => {
  const device = deviceName(pageEnvironment);
  localStorage.clear();
  expect(deviceName(pageEnvironment)).toBe(device);
  expect(localStorage.getItem('cairn:device')).toBe(device);
});

test('a page forgets with a destroyed database when it was backed up', async () => {
  const lastOf = ({ db }: ReturnType<typeof open>) =>
    new LastCheck(db, 'test:target', pageEnvironment);
  const asked = () => Promise.resolve(undefined);
  const first = open(name);
  lastOf(first).note(0);
  expect(await lastOf(first).read(asked)).toBeTypeOf('number');
  await first.db.destroy();
  expect(await lastOf(open(name)).read(asked)).toBeUndefined();
});

test('a folder that the user has removed is target_unreachable, where users can pick one', async () => {
  if (!('showDirectoryPicker' in globalThis)) {
    // There are only folders of the origin, which users do not see.
    expect(navigator.userAgent).not.toContain('Chrome/');
    return;
  }
  const target = folder(directory);
  await root.removeEntry(name, { recursive: true });
  expect(await codeOf(target.list('a/'))).toBe('target_unreachable');
  expect(await codeOf(target.put('a/b', new Uint8Array([1])))).toBe('target_unreachable');
});

test('anything but a directory is refused', () => {
  expect(() => folder({} as never)).toThrow(expect.objectContaining({ place: 'directory' }));
  expect(() => folder(undefined as never)).toThrow(expect.objectContaining({ place: 'directory' }));
});
