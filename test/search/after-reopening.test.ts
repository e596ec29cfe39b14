import { expect, test } from 'vitest';
import { Database, memoryDriver, type StorageDriver } from '../../src/index.ts';

interface Thing {
  text: string;
  n: number;
}

function open(storage: StorageDriver) {
  const db = new Database({ name: 'things', storage });
  const things = new db.Collection<Thing>({
    name: 'things',
    type: 'DOCUMENT_BASED',
    indexes: [{ text: ['text'] }],
  });
  const found = async (text: string) => (await things.search(text, { limit: 1000 })).length;
  return { db, things, found };
}

/** 200 things that were saved, in a database that was opened anew. */
async function reopened() {
  const driver = memoryDriver();
  const { db, things } = open(driver);
  const made = Array.from({ length: 200 }, (_, n) => ({ _id: `${n}`, text: `word w${n}`, n }));
  await things.insertMany(made);
  await things.save();
  await db.close();
  const again = open(driver);
  await again.things.filter({});
  return again;
}

test('a search finds what was left before it', async () => {
  const { things, found } = await reopened();
  for (let n = 0; n < 150; n++) await things.delete(`${n}`);
  expect(await found('word')).toBe(50);
});

test('a search finds nothing of documents that have changed all at once', async () => {
  const { things, found } = await reopened();
  await things.delete('0');
  expect(await found('word')).toBe(199);
  await things.patchMany({}, { text: 'other' });
  expect(await found('word')).toBe(0);
  expect(await found('other')).toBe(199);
  await things.deleteMany({ n: { $lt: 190 } });
  expect(await found('other')).toBe(10);
});

test('a search finds nothing once all documents are deleted', async () => {
  const { things, found } = await reopened();
  await things.deleteMany({});
  expect(await found('word')).toBe(0);
});
