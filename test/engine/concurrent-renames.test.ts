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

test.for(['open', 'closed'])('a rename of what an import holds, %s, waits for it', async (is) => {
  const from = testDatabase();
  const large = Array.from({ length: 30 }, () => ({ text: randomBytes(50_000).toString('hex') }));
  await fill(from, 'one', large);
  await fill(from, 'two', [{ n: 1 }, { n: 2 }]);
  const file = new Uint8Array(await new Response(await from.exportAll()).arrayBuffer());
  const db = await reopened();
  if (is === 'open') await new db.Collection({ name: 'one', type }).ready;
  const renames: Promise<void>[] = [];
  let at = 0;
  // Nothing is read ahead of the import.
  const slow = new ReadableStream(
    {
      pull(stream) {
        // The import holds "one", and needs "two" for the rest.
        if (at > file.length * 0.9 && renames.length === 0)
          renames.push(db.renameCollection('one', 'two'));
        if (at >= file.length) return stream.close();
        stream.enqueue(file.slice(at, at + 20_000));
        at += 20_000;
      },
    },
    { highWaterMark: 0 },
  );
  expect(await db.importAll(slow)).toBe(32);
  expect(await codesOf(renames)).toEqual(['name_taken']);
  expect(await contentsOf(db)).toEqual({ one: 30, two: 2 });
});
