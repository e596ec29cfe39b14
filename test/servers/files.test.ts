import { PGlite } from '@electric-sql/pglite';
import { afterEach, describe, expect, test } from 'vitest';
import { type NamedTarget, s3 } from '../../src/backup-targets/index.ts';
import { type FileObjects, postgresFiles } from '../../src/server/files/index.ts';
import { ServerProcess } from '../backup-targets/servers/server-process.ts';
import { fileStories } from '../server/file-stories.ts';
import { openSchema } from './stores.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

describe('PGlite', () =>
  fileStories(async () => {
    const db = await PGlite.create();
    ends.push(() => db.close());
    const store = postgresFiles((text, values) => db.query(text, values));
    await store.setup();
    return store;
  }));

describe('PostgreSQL', () =>
  fileStories(async () => {
    const { pool, close } = await openSchema();
    ends.push(close);
    const store = postgresFiles((text, values) => pool.query(text, values));
    await store.setup();
    await store.setup();
    return store;
  }));

/** A server that checks the signature of each request. */
async function openBucket(): Promise<NamedTarget> {
  const server = new ServerProcess('./s3-server.mjs');
  ends.push(() => server.remove());
  const { port } = await server.start();
  return s3({
    ...{ url: `http://127.0.0.1:${port}/bucket`, prefix: 'files', region: 'eu-central-1' },
    ...{ accessKeyId: 'test-key', secretAccessKey: 'test/secret+key' },
  });
}

async function openTables() {
  const { pool, close } = await openSchema();
  ends.push(close);
  return async (objects?: FileObjects) => {
    const store = postgresFiles((text, values) => pool.query(text, values), { objects });
    await store.setup();
    return store;
  };
}

describe('PostgreSQL and a bucket', () => {
  fileStories(async () => (await openTables())(await openBucket()));

  const upload = { collection: 'jobs', sha256: 'a'.repeat(64), device: 'd' };
  const bytes = new Uint8Array([1, 2, 3]);
  const partOf = async (store: Awaited<ReturnType<Awaited<ReturnType<typeof openTables>>>>) =>
    new Uint8Array((await store.read(upload, 1))?.bytes ?? []);

  test('what is no file any more leaves no object', async () => {
    const bucket = await openBucket();
    const store = await (await openTables())(bucket);
    const objects = async () => (await bucket.list('')).length;
    const [one, two] = ['d', 'e'].map((device) => ({ ...upload, device })) as [
      typeof upload,
      never,
    ];
    for (const each of [one, two]) await store.append(each, 0, bytes);
    // Of another place.
    expect(await store.append(one, 7, bytes)).toBe(3);
    expect(await objects()).toBe(2);
    for (const each of [one, two]) await store.finish(each);
    expect(await objects()).toBe(1);
    expect(await partOf(store)).toEqual(bytes);
    await store.append({ ...upload, sha256: 'b'.repeat(64) }, 0, bytes);
    await store.discard({ ...upload, sha256: 'b'.repeat(64) });
    // An empty file has one empty part, which may come twice.
    const empty = { ...upload, sha256: 'c'.repeat(64) };
    for (const _ of [1, 2]) expect(await store.append(empty, 0, new Uint8Array())).toBe(0);
    expect(await store.uploaded(empty, 0)).toHaveLength(0);
    expect(await objects()).toBe(1);
    expect(await store.remove(upload, new Date(Date.now() + 60_000))).toBe(true);
    expect(await objects()).toBe(0);
  });

  test('files from before the bucket are read; without it, those in it are an error', async () => {
    const open = await openTables();
    const [before, inBucket] = [await open(), await open(await openBucket())];
    await before.append(upload, 0, bytes);
    await inBucket.append(upload, 3, bytes);
    await before.finish(upload);
    expect(await partOf(inBucket)).toEqual(bytes);
    expect((await inBucket.read(upload, 4))?.bytes).toEqual(bytes);
    await expect(before.read(upload, 4)).rejects.toMatchObject({ code: 'option_missing' });
  });

  test('an object that is lost is no part', async () => {
    const bucket = await openBucket();
    const store = await (await openTables())(bucket);
    await store.append(upload, 0, bytes);
    for (const path of await bucket.list('')) await bucket.delete(path);
    expect(await store.uploaded(upload, 0)).toBe(undefined);
  });
});
