import { existsSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { changePassword, encrypted } from '../../src/encryption/index.ts';
import { Database } from '../../src/index.ts';
import { files } from '../../src/node/index.ts';
import { storageDriverSuite } from '../../src/testing/index.ts';
import { makeFolder } from '../../tools/browsers/child.mjs';

storageDriverSuite(files(makeFolder('files')), { describe, test });

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
