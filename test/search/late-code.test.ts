import { expect, test, vi } from 'vitest';
import { memoryDriver } from '../../src/index.ts';

/** The library, whose parts are not there yet, as on a fresh page. */
async function freshPage() {
  vi.resetModules();
  const { IndexBuilder } = await import('../../src/engine/documents/index-builder.ts');
  const { lateStored } = await import('../../src/engine/first-reads/stored-records.ts');
  const { Database } = await import('../../src/index.ts');
  return { build: vi.spyOn(IndexBuilder.prototype, 'build'), lateStored, Database };
}

const options = {
  name: 'articles',
  type: 'DOCUMENT_BASED',
  caching: false,
  indexes: [{ text: ['text'] }, { vector: 'embedding', dimensions: 2, metric: 'cosine' }],
} as const;

interface Article {
  text: string;
  embedding: number[];
}

test('a visit builds no index whose code comes while its collection opens', async () => {
  const storage = memoryDriver();
  const first = await freshPage();
  let db = new first.Database({ name: 'late code', storage });
  await new db.Collection<Article>(options).insert({ text: 'heavy water', embedding: [1, 0] });
  await db.close();
  const { Database, build } = await freshPage();
  db = new Database({ name: 'late code', storage });
  const articles = new db.Collection<Article>(options);
  expect(await articles.search('water')).toHaveLength(1);
  expect(await articles.nearest([1, 0])).toHaveLength(1);
  expect(build).not.toHaveBeenCalled();
  await db.close();
});

test('the first search of a visit does not wait for its collection to open', async () => {
  const storage = memoryDriver();
  const first = await freshPage();
  let db = new first.Database({ name: 'late code', storage });
  const text = `heavy water ${'and more '.repeat(300)}`;
  const all = Array.from({ length: 1000 }, () => ({ text, embedding: [1, 0] }));
  await new db.Collection<Article>(options).insertMany(all);
  await db.close();
  const { Database, lateStored } = await freshPage();
  db = new Database({ name: 'late code', storage });
  const articles = new db.Collection<Article>(options);
  const found = vi.fn();
  await articles.insert({ text: '', embedding: [1, 0] });
  await db.close();
  db = new Database({ name: 'late code', storage });
  const find = lateStored.find as NonNullable<typeof lateStored.find>;
  lateStored.find = async (...given) => {
    const context = await find(...given);
    found(context !== undefined);
    return context;
  };
  expect(await new db.Collection<Article>(options).search('water')).toHaveLength(20);
  expect(found).toHaveBeenCalledExactlyOnceWith(true);
  await db.close();
});
