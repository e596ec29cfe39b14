import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { changePassword, encrypted } from '../../src/encryption/index.ts';
import { Database, type DatabaseOptions } from '../../src/index.ts';
import { files } from '../../src/node/index.ts';
import { storageDriverSuite } from '../../src/testing/index.ts';
import { makeFolder } from '../../tools/browsers/child.mjs';

storageDriverSuite(files(makeFolder('files')), { describe, test });

function openThings(directory: string, options: Partial<DatabaseOptions> = {}) {
  const db = new Database({ name: 'shop', storage: files(directory), ...options });
  return { db, things: new db.Collection({ name: 'things', type: 'DOCUMENT_BASED' }) };
}

const SILENT = { damaged: () => undefined };

test('two clients of a process share a database; the last one to close releases it', async () => {
  const directory = makeFolder('shared');
  const clients = [1, 2].map(() => new Database({ name: 'shop', storage: files(directory) }));
  const [mine, theirs] = clients.map(
    (db) => new db.Collection<{ n: number }>({ name: 'things', type: 'DOCUMENT_BASED' }),
  );
  await mine?.insert({ _id: 'a', n: 1 });
  expect(await theirs?.get('a')).toMatchObject({ n: 1 });
  await clients[0]?.close();
  await theirs?.insert({ _id: 'b', n: 2 });
  expect(await theirs?.count()).toBe(2);
  await clients[1]?.close();
  const later = new Database({ name: 'shop', storage: files(directory) });
  const things = new later.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
  expect(await things.count()).toBe(2);
  expect(later.status).toMatchObject({ storage: 'files', engine: 'thread', leader: true });
  expect(await later.storage.status).toBe('persistent');
  await later.close();
});

test("durability: 'strict' syncs, 'relaxed' does not", async () => {
  const directory = makeFolder('sync');
  const level = new ClassicLevel(join(directory, 'other'));
  await level.open();
  const written = vi.spyOn(Object.getPrototypeOf(level.batch()), '_write');
  await level.close();
  onTestFinished(() => written.mockRestore());
  for (const durability of ['strict', 'relaxed'] as const) {
    const db = new Database({ name: durability, durability, storage: files(directory) });
    await db.ready;
    written.mockClear();
    await new db.Collection({ name: 'things', type: 'DOCUMENT_BASED' }).insert({});
    await db.save();
    const syncs = written.mock.calls.map(([options]) => (options as { sync: boolean }).sync);
    expect(new Set(syncs)).toEqual(new Set([durability === 'strict']));
    await db.close();
  }
});

test('openings and closings that overlap wait for each other', async () => {
  const driver = files(makeFolder('overlap'));
  for (let round = 0; round < 20; round++) {
    const opening = driver.open('shop', SILENT);
    const [one, other] = await Promise.all([opening, driver.open('shop', SILENT)]);
    const closing = one.close();
    const third = driver.open('shop', SILENT);
    await Promise.all([closing, other.close(), (await third).close()]);
  }
  const storage = await driver.open('shop', SILENT);
  expect(await storage.keys('leadership', [])).toEqual([['database']]);
  await storage.close();
});

test('of two that create a database by a path and by a link, one has it, the other database_busy', async () => {
  const directory = makeFolder('linked');
  const link = `${directory}-link`;
  symlinkSync(directory, link);
  onTestFinished(() => rmSync(link));
  const drivers = [files(directory), files(link)];
  for (let round = 0; round < 20; round++) {
    const name = `shop-${round}`;
    const openings = await Promise.allSettled(drivers.map((driver) => driver.open(name, SILENT)));
    const opened = openings.find((opening) => opening.status === 'fulfilled');
    const refused = openings.findIndex((opening) => opening.status === 'rejected');
    expect(opened).toBeDefined();
    expect(openings[refused]).toMatchObject({ reason: { code: 'database_busy' } });
    await expect(drivers[refused]?.delete?.(name)).rejects.toMatchObject({ code: 'database_busy' });
    await opened?.value.close();
    expect(readdirSync(join(directory, name)).filter((file) => /json/.test(file))).toEqual([
      'cairndb.json',
    ]);
    const later = await drivers[refused]?.open(name, SILENT);
    await later?.close();
  }
});

test('an opening or deletion by a link, which is refused, leaves the lock to who has it', async () => {
  const directory = makeFolder('kept');
  const link = `${directory}-link`;
  symlinkSync(directory, link);
  onTestFinished(() => rmSync(link));
  const storage = await files(directory).open('shop', SILENT);
  const busy = { code: 'database_busy' };
  await expect(files(link).open('shop', SILENT)).rejects.toMatchObject(busy);
  await expect(files(link).delete?.('shop')).rejects.toMatchObject(busy);
  const script = `const level = new (require('classic-level').ClassicLevel)(process.argv[1]);
    level.open().then(() => console.log('opened'), ({ cause }) => console.log(cause.code));`;
  const args = ['-e', script, join(directory, 'shop')];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8' }).trim()).toBe('LEVEL_LOCKED');
  await storage.close();
  const later = await files(link).open('shop', SILENT);
  await later.close();
});

test.each([
  ['deleted', (folder: string) => rmSync(folder, { recursive: true })],
  ['moved', (folder: string) => renameSync(folder, `${folder}-moved`)],
])('a folder that is %s while it is open acknowledges no save()', async (_, remove) => {
  const directory = makeFolder('gone');
  const { db, things } = openThings(directory);
  const codes: unknown[] = [];
  db.on('error', ({ error }) => codes.push((error as { code?: string }).code));
  await things.insert({ _id: 'a' });
  await db.save();
  remove(join(directory, 'shop'));
  await things.insert({ _id: 'b' });
  await expect(db.save()).rejects.toMatchObject({ code: 'database_destroyed' });
  await expect(things.count()).rejects.toMatchObject({ code: 'database_destroyed' });
  expect(codes).toContain('database_destroyed');
  // Before the first is closed: what that has open is no part of the new folder.
  const later = openThings(directory);
  expect(await later.things.count()).toBe(0);
  await later.things.insert({ _id: 'c' });
  await later.db.save();
  await later.db.close();
  await db.close();
});

test('a folder that a copy of it replaces while it is open has what save() acknowledges', async () => {
  const directory = makeFolder('replaced');
  const folder = join(directory, 'shop');
  const { db, things } = openThings(directory);
  await things.insert({ _id: 'a' });
  await db.save();
  cpSync(folder, `${folder}-copy`, { recursive: true });
  rmSync(folder, { recursive: true });
  renameSync(`${folder}-copy`, folder);
  await things.insert({ _id: 'b' });
  await db.save();
  await db.close();
  const later = openThings(directory);
  expect(await later.things.getMany(['a', 'b'])).toMatchObject([{ _id: 'a' }, { _id: 'b' }]);
  await later.db.close();
});

test("on_deleted: 'start_again' goes on in a new folder", async () => {
  const directory = makeFolder('again');
  const { db, things } = openThings(directory, { on_deleted: 'start_again' });
  await things.insert({ _id: 'a' });
  await db.save();
  rmSync(join(directory, 'shop'), { recursive: true });
  await things.insert({ _id: 'b' });
  await db.save();
  await things.insert({ _id: 'c' });
  await db.save();
  await db.close();
  const later = openThings(directory);
  expect(await later.things.get('c')).toMatchObject({ _id: 'c' });
  expect(await later.things.get('a')).toBe(undefined);
  await later.db.close();
});

test('changePassword() of a database that does not exist makes no folder', async () => {
  const directory = makeFolder('no-password');
  const [key, new_key] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const change = (name: string) =>
    changePassword({ name, storage: files(directory), key, new_key });
  await expect(change('shop')).rejects.toMatchObject({ code: 'not_encrypted' });
  expect(readdirSync(directory)).toEqual([]);
  const open = (fill: Uint8Array) =>
    new Database({ name: 'shop', storage: encrypted(files(directory), { key: fill }) });
  const db = open(key);
  await db.ready;
  await db.close();
  await change('shop');
  const changed = open(new_key);
  await changed.ready;
  await changed.close();
});

test('destroy() removes the folder of the database and no other', async () => {
  const directory = makeFolder('destroy');
  for (const name of ['shop', 'Shop']) {
    const db = new Database({ name, storage: files(directory) });
    await new db.Collection({ name: 'things', type: 'DOCUMENT_BASED' }).insert({ name });
    await db.save();
    if (name === 'Shop') await db.destroy();
    else await db.close();
  }
  expect(readdirSync(directory)).toEqual(['shop']);
  expect(existsSync(join(directory, 'shop', 'CURRENT'))).toBe(true);
});

test('many saves and a large import leave few files, and close() waits for what runs', async () => {
  const directory = makeFolder('large');
  const db = new Database({ name: 'shop', storage: files(directory) });
  const things = new db.Collection({ name: 'things', type: 'DOCUMENT_BASED', caching: false });
  const text = 'x'.repeat(1000);
  await things.insertMany(Array.from({ length: 20_000 }, (_, n) => ({ _id: `d${n}`, n, text })));
  await Promise.all([db.close(), things.count().catch(() => undefined)]);
  const again = new Database({ name: 'shop', storage: files(directory) });
  const stored = new again.Collection<{ n: number }>({ name: 'things', type: 'DOCUMENT_BASED' });
  expect(await stored.count()).toBe(20_000);
  expect(await stored.get('d19999')).toMatchObject({ n: 19_999 });
  await again.close();
});
