import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ClassicLevel } from 'classic-level';
import { describe, expect, test, vi } from 'vitest';
import { Database } from '../../src/index.ts';
import { files } from '../../src/node/index.ts';
import { makeFolder } from '../../tools/browsers/child.mjs';
import { rejection } from '../contract/outcomes.ts';

const openThings = (directory: string) => {
  const db = new Database({ name: 'shop', storage: files(directory) });
  return { db, things: new db.Collection({ name: 'things', type: 'DOCUMENT_BASED' }) };
};

/** A directory with a database of some documents, and the folder of the database. */
async function storedShop(): Promise<{ directory: string; folder: string }> {
  const directory = makeFolder('bad');
  const { db, things } = openThings(directory);
  for (let n = 0; n < 20; n++) {
    await things.insert({ _id: `d${n}`, text: `${'x'.repeat(2000)}needle-${n}` });
    await db.save();
  }
  await db.close();
  // Once more, so that the data is in a table, and its log is empty.
  const again = openThings(directory);
  await again.things.count();
  await again.db.close();
  return { directory, folder: join(directory, 'shop') };
}

/** All but LevelDB's messages. */
const ALL = /^(?!LOG)/;
/** An opening that succeeds begins a new log and manifest. */
const TABLES = /\.ldb$|^cairndb/;

/** The files of a folder and their content. */
function contentOf(folder: string, which: RegExp): Map<string, string> {
  const names = readdirSync(folder).filter((name) => which.test(name));
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), 'base64')]));
}

/** Opening fails with a code, falls back to no memory, and leaves the files as they are. */
async function expectRefusal(directory: string, code: string, kept = ALL): Promise<Error> {
  const folder = join(directory, 'shop');
  const before = contentOf(folder, kept);
  const { db, things } = openThings(directory);
  const error = await rejection(things.insert({ a: 1 }));
  expect(error).toMatchObject({ name: 'StorageError', code });
  expect(error.message).toContain(folder);
  expect(db.status).toMatchObject({ state: 'failed', last_error: { code } });
  expect(contentOf(folder, kept)).toEqual(before);
  return error;
}

const tableIn = (folder: string) =>
  join(folder, readdirSync(folder).find((name) => name.endsWith('.ldb')) as string);

describe('files(directory)', () => {
  test.each([
    [undefined],
    [null],
    [''],
    [7],
    ['a\0b'],
    [new URL('https://example.com/data')],
    [{ directory: './data' }],
  ])('refuses %j', (directory) => {
    const call = () => files(directory as string);
    expect(call).toThrow(expect.objectContaining({ name: 'OptionError', code: 'option_invalid' }));
  });

  test('takes a path or a file: URL, and gives one driver for each directory', () => {
    const directory = makeFolder('url');
    const driver = files(directory);
    expect(driver.kind).toBe('files');
    expect(files(pathToFileURL(directory))).toBe(driver);
    expect(files(join(directory, 'a', '..'))).toBe(driver);
    expect(files(join(directory, 'a'))).not.toBe(driver);
  });
});

describe('a directory that cannot be used', () => {
  test('is a file, or below one: directory_unusable', async () => {
    const file = join(makeFolder('file'), 'data');
    writeFileSync(file, 'text');
    for (const directory of [file, join(file, 'below')]) {
      const { things } = openThings(directory);
      expect((await rejection(things.count())).code).toBe('directory_unusable');
    }
    expect(readFileSync(file, 'utf8')).toBe('text');
  });

  // Node's own recursive mkdir never ends there.
  test('is in a file system without new folders, at any depth: directory_unusable', async () => {
    for (const directory of ['/proc/shop', '/proc/shop/a/b']) {
      const { things } = openThings(directory);
      expect((await rejection(things.count())).code).toBe('directory_unusable');
    }
  });

  test('has another file where the database would be: directory_unusable', async () => {
    const directory = makeFolder('taken');
    writeFileSync(join(directory, 'shop'), 'text');
    const { things } = openThings(directory);
    expect((await rejection(things.count())).code).toBe('directory_unusable');
    expect(readFileSync(join(directory, 'shop'), 'utf8')).toBe('text');
  });
});

describe('files of others', () => {
  test('are refused with data_foreign, by open and by delete', async () => {
    const directory = makeFolder('foreign');
    const folder = join(directory, 'shop');
    mkdirSync(folder);
    writeFileSync(join(folder, 'letter.txt'), 'Dear Ada');
    await expectRefusal(directory, 'data_foreign');
    const deleting = files(directory).delete?.('shop') as Promise<void>;
    expect((await rejection(deleting)).code).toBe('data_foreign');
    expect(readdirSync(folder)).toEqual(['letter.txt']);
  });

  test('a LevelDB of another program is refused', async () => {
    const directory = makeFolder('leveldb');
    const level = new ClassicLevel(join(directory, 'shop'));
    await level.put('a', 'b');
    await level.close();
    await expectRefusal(directory, 'data_foreign');
  });

  test('an empty folder, or one whose creation was cut short, is a new database', async () => {
    for (const left of [[], ['cairndb.json.77'], ['MANIFEST-000001', 'LOCK', 'LOG']]) {
      const directory = makeFolder('new');
      const folder = join(directory, 'shop');
      mkdirSync(folder);
      if (left.includes('LOCK')) writeFileSync(join(folder, 'cairndb.json'), '{"format":1}');
      for (const name of left) writeFileSync(join(folder, name), '');
      const { db, things } = openThings(directory);
      await things.insert({ _id: 'a' });
      await db.close();
      const again = openThings(directory);
      expect(await again.things.count()).toBe(1);
      await again.db.close();
    }
  });
});

describe('damaged files', () => {
  test.each([
    ['CURRENT is lost', (folder: string) => rmSync(join(folder, 'CURRENT'))],
    ['CURRENT is empty', (folder: string) => writeFileSync(join(folder, 'CURRENT'), '')],
    ['a table is lost', (folder: string) => rmSync(tableIn(folder))],
    ['the marker is no JSON', (folder: string) => writeFileSync(join(folder, 'cairndb.json'), '{')],
    [
      'the manifest is lost',
      (folder: string) => {
        for (const name of readdirSync(folder))
          if (name.startsWith('MANIFEST')) rmSync(join(folder, name));
      },
    ],
  ])('%s: data_damaged, and nothing is written', async (_, damage) => {
    const { directory, folder } = await storedShop();
    damage(folder);
    const error = await expectRefusal(directory, 'data_damaged');
    expect(error.message).toMatch(/repair/);
  });

  test('a table is cut: data_damaged at the first read', async () => {
    const { directory, folder } = await storedShop();
    writeFileSync(tableIn(folder), 'short');
    await expectRefusal(directory, 'data_damaged', TABLES);
  });

  test('a copy of the folder opens', async () => {
    const { folder } = await storedShop();
    const directory = makeFolder('copy');
    cpSync(folder, join(directory, 'shop'), { recursive: true });
    const { db, things } = openThings(directory);
    expect(await things.count()).toBe(20);
    await db.close();
  });

  test('bytes of a table that are changed are noticed', async () => {
    const { directory, folder } = await storedShop();
    const table = tableIn(folder);
    const bytes = readFileSync(table);
    const at = bytes.indexOf('needle');
    expect(at).toBeGreaterThan(0);
    bytes.write('noodle', at);
    writeFileSync(table, bytes);
    const { db, things } = openThings(directory);
    const damage = vi.fn();
    db.on('error', ({ error }) => damage((error as { code?: string }).code));
    const found = await things.filter({}).catch((error: { code?: string }) => error.code);
    const isReported =
      found === 'data_damaged' || damage.mock.calls.some(([code]) => code === 'data_damaged');
    expect(isReported).toBe(true);
    if (Array.isArray(found)) expect(JSON.stringify(found)).not.toContain('noodle');
    await db.close();
  });

  test('a newer format is refused with format_newer', async () => {
    const { directory, folder } = await storedShop();
    writeFileSync(join(folder, 'cairndb.json'), '{"format":2,"name":"shop"}');
    const error = await expectRefusal(directory, 'format_newer');
    expect(error.message).toMatch(/update/);
  });

  test('a damaged database can be deleted', async () => {
    const { directory, folder } = await storedShop();
    rmSync(join(folder, 'CURRENT'));
    await files(directory).delete?.('shop');
    expect(readdirSync(directory)).toEqual([]);
  });
});
