import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { closeTestDatabases, type TestDatabase, testDatabase } from '../../src/testing/index.ts';

afterEach(() => closeTestDatabases());

const type = 'DOCUMENT_BASED';

async function fill(
  db: TestDatabase,
  name: string,
  documents: readonly { n?: number; text?: string }[],
): Promise<void> {
  await new db.Collection<{ n?: number; text?: string }>({ name, type }).insertMany(documents);
}

/** A database that has stored a collection "one", which nobody has open. */
async function reopened(): Promise<TestDatabase> {
  const db = testDatabase();
  await fill(db, 'one', [{ n: 0 }]);
  await db.close();
  return testDatabase({ storage: db.disk });
}

async function contentsOf(db: TestDatabase): Promise<Record<string, number | undefined>> {
  const listed = await db.collections();
  return Object.fromEntries(listed.map(({ name, documents }) => [name, documents]));
}

const large = Array.from({ length: 30 }, () => ({ text: randomBytes(50_000).toString('hex') }));

/** @param before Called before each part of a file, with how much of it was read. */
function slowStream(
  file: Uint8Array<ArrayBuffer>,
  before: (part: number) => Promise<unknown> | undefined,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream(
    {
      async pull(stream) {
        await before(at / file.length);
        if (at >= file.length) return stream.close();
        stream.enqueue(file.slice(at, at + 20_000));
        at += 20_000;
      },
    },
    // Nothing is read ahead of the import.
    { highWaterMark: 0 },
  );
}

const codesOf = async (calls: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(calls)).map((one) =>
    one.status === 'rejected' ? one.reason.code : undefined,
  );

test('a rename and the one back, called together, run one after the other', async () => {
  const db = await reopened();
  const renames = [db.renameCollection('one', 'two'), db.renameCollection('two', 'one')];
  expect(await codesOf(renames)).toEqual([undefined, undefined]);
  expect(await contentsOf(db)).toEqual({ one: 1 });
});

test('of two renames of one collection the later finds it gone', async () => {
  const db = await reopened();
  const renames = [db.renameCollection('one', 'two'), db.renameCollection('one', 'three')];
  expect(await codesOf(renames)).toEqual([undefined, 'collection_missing']);
  expect(await contentsOf(db)).toEqual({ two: 1 });
});

/** A collection, and two beside it as a page has them for the files of its documents. */
async function fillWithFiles(db: TestDatabase): Promise<void> {
  await fill(db, 'one', [{ n: 0 }]);
  await fill(db, 'one file parts', [{ text: 'part' }]);
  const note = { _id: 'device', size: 0 };
  await new db.Collection<object>({ name: 'one files', type }).insert(note);
}

const withDrop = { type, activate_drop_method: true } as const;

test('a rename to what a drop takes along does not wait for itself', async () => {
  const before = testDatabase();
  await fillWithFiles(before);
  await fill(before, 'two', [{ n: 1 }]);
  await before.close();
  const db = testDatabase({ storage: before.disk });
  const one = new db.Collection({ ...withDrop, name: 'one' });
  await one.ready;
  const calls = [one.Drop(), db.renameCollection('two', 'one files')];
  expect(await codesOf(calls)).toEqual([undefined, 'name_taken']);
  await new db.Collection({ ...withDrop, name: 'two' }).Drop();
  await db.close();
  expect(await contentsOf(testDatabase({ storage: db.disk }))).toEqual({});
});

test('an import of what a drop takes along does not wait for itself', async () => {
  const db = testDatabase();
  // First in the file.
  await fill(db, 'one files', large);
  await fillWithFiles(db);
  const file = new Uint8Array(await new Response(await db.exportAll()).arrayBuffer());
  const one = new db.Collection({ ...withDrop, name: 'one' });
  let drops: Promise<unknown> | undefined;
  const slow = slowStream(file, (part) => {
    if (part > 0.5) drops ??= one.Drop();
    return drops;
  });
  await db.importAll(slow);
  expect(await contentsOf(db)).toEqual({ one: 1, 'one file parts': 1, 'one files': 31 });
});

test.for(['open', 'closed'])('a rename of what an import holds, %s, waits for it', async (is) => {
  const from = testDatabase();
  await fill(from, 'one', large);
  await fill(from, 'two', [{ n: 1 }, { n: 2 }]);
  const file = new Uint8Array(await new Response(await from.exportAll()).arrayBuffer());
  const db = await reopened();
  if (is === 'open') await new db.Collection({ name: 'one', type }).ready;
  const renames: Promise<void>[] = [];
  const slow = slowStream(file, (part) => {
    // The import holds "one", and needs "two" for the rest.
    if (part > 0.9 && renames.length === 0) renames.push(db.renameCollection('one', 'two'));
    return undefined;
  });
  expect(await db.importAll(slow)).toBe(32);
  expect(await codesOf(renames)).toEqual(['name_taken']);
  expect(await contentsOf(db)).toEqual({ one: 30, two: 2 });
});
