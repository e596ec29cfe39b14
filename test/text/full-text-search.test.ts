import { describe, expect, onTestFinished, test } from 'vitest';
import { fullTextSearch } from '../../docs/recipes/full-text-search.md?code';
import { connect, Database, type DatabaseClient } from '../../src/index.ts';
import { fakeWorker } from '../contract/fake-worker.ts';
import { fc, runs } from '../setup/properties.ts';

interface Article {
  title: string;
  text?: string;
}

const clients: [string, () => DatabaseClient][] = [
  ['Database', () => new Database({ name: `search ${Math.random()}` })],
  ['connect', () => connect({ name: `search ${Math.random()}`, worker: fakeWorker })],
];

function open(client: () => DatabaseClient) {
  const db = client();
  onTestFinished(() => db.close());
  const articles = new db.Collection<Article>({ name: 'articles', type: 'DOCUMENT_BASED' });
  const index = fullTextSearch(db, articles, ['title', 'text']);
  onTestFinished(() => index.stop());
  const titles = async (text: string): Promise<string[]> =>
    (await index.search(text)).map(({ title }: Article) => title);
  return { db, articles, index, titles };
}

describe.each(clients)('%s', (_, client) => {
  test('finds what was there, with typing errors, beginnings, and without accents', async () => {
    const { articles, index, titles } = open(client);
    await articles.insertMany([
      { title: 'Hydrogen' },
      { title: 'Crème brûlée' },
      { title: 'Helium' },
    ]);
    expect(await titles('hydrgen')).toEqual(['Hydrogen']);
    expect(await titles('CREME bru')).toEqual(['Crème brûlée']);
    expect(await titles('')).toEqual([]);
    expect(await titles('a.b*(')).toEqual([]);
    expect(await index.suggest('hel')).toEqual(['helium']);
  });

  test('each search finds what was changed before it', async () => {
    const { db, articles, index, titles } = open(client);
    await index.ready();
    const { _id } = await articles.insert({ title: 'Lamp' });
    expect(await titles('lamp')).toEqual(['Lamp']);
    await articles.patch(_id, { title: 'Table' });
    expect([await titles('lamp'), await titles('table')]).toEqual([[], ['Table']]);
    await articles.archive(_id);
    expect(await titles('table')).toEqual([]);
    await articles.unarchive(_id);
    expect(await titles('table')).toEqual(['Table']);
    await db.transaction((tx) => tx(articles).deleteMany({}));
    expect(await titles('table')).toEqual([]);
  });

  test('a restored backup and an imported file build it anew', async () => {
    const { articles, titles } = open(client);
    await articles.insert({ title: 'Before' });
    const backup = await articles.createBackup();
    const file = await new Response(await articles.exportBackup(backup)).blob();
    await articles.deleteMany({});
    await articles.insert({ title: 'After' });
    expect(await titles('after')).toEqual(['After']);
    await articles.loadBackup(backup);
    expect([await titles('after'), await titles('before')]).toEqual([[], ['Before']]);
    await articles.deleteMany({});
    expect(await titles('before')).toEqual([]);
    await articles.importBackup(file, { mode: 'merge' });
    expect(await titles('before')).toEqual(['Before']);
  });

  test('more changes than one batch, while it is built', async () => {
    const { articles, index, titles } = open(client);
    await articles.insertMany(Array.from({ length: 700 }, (_, n) => ({ title: `early${n}` })));
    const building = index.ready();
    const late = articles.insertMany(
      Array.from({ length: 700 }, (_, n) => ({ title: `late${n}` })),
    );
    await Promise.all([building, late]);
    expect((await titles('early699'))[0]).toBe('early699'); // the others are alike
    expect((await titles('late699'))[0]).toBe('late699');
  });
});

test('after any changes it finds what an index built anew finds', async () => {
  const word = fc.constantFrom('lamp', 'table', 'chair', 'crème');
  const id = fc.constantFrom('a', 'b', 'c', 'd');
  const step = fc.record({
    kind: fc.constantFrom('upsert', 'delete', 'archive', 'unarchive', 'search'),
    id,
    word,
  });
  const db = new Database({ name: `search ${Math.random()}`, storage: 'memory' });
  onTestFinished(() => db.close());
  const articles = new db.Collection<Article>({ name: 'articles', type: 'DOCUMENT_BASED' });
  const kept = fullTextSearch(db, articles, ['title']);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), word, async (steps, text) => {
      for (const { kind, id, word } of steps) {
        if (kind === 'upsert') await articles.upsert({ _id: id, title: word });
        else if (kind === 'search') await kept.search(word);
        else await articles[kind as 'delete'](id);
      }
      const anew = fullTextSearch(db, articles, ['title']);
      const idsOf = (found: { _id: string }[]) => found.map(({ _id }) => _id).sort();
      expect(idsOf(await kept.search(text))).toEqual(idsOf(await anew.search(text)));
      anew.stop();
    }),
    runs(60),
  );
});

test('while another tab takes over, an event may be missing: it is built anew', async () => {
  const db = new Database({ name: `search ${Math.random()}`, storage: 'memory' });
  onTestFinished(() => db.close());
  const articles = new db.Collection<Article>({ name: 'articles', type: 'DOCUMENT_BASED' });
  const listeners: ((status: { state: string }) => void)[] = [];
  const on = (_: string, listener: (typeof listeners)[0]) => listeners.push(listener);
  const index = fullTextSearch({ on }, deaf(articles), ['title']);
  await index.ready();
  await articles.insert({ title: 'Lamp' });
  expect(await index.search('lamp')).toHaveLength(0);
  for (const tell of listeners) tell({ state: 'opening' });
  expect(await index.search('lamp')).toHaveLength(1);
});

test('a failed build is made up for', async () => {
  const { db, articles, index, titles } = open(clients[0]?.[1] as () => DatabaseClient);
  await articles.insert({ title: 'Lamp' });
  const failing = fullTextSearch(db, broken(articles), ['title']);
  await expect(failing.search('lamp')).rejects.toThrow('read failed');
  expect(await failing.search('lamp')).toHaveLength(1);
  failing.stop();
  expect(await titles('lamp')).toEqual(['Lamp']);
  index.stop();
});

/** A collection that tells no changes. */
function deaf<T extends object>(collection: T): T {
  return new Proxy(collection, {
    get(target, name) {
      if (name === 'on') return () => () => undefined;
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** A collection whose first reading fails. */
function broken<T extends object>(collection: T): T {
  let reads = 0;
  return new Proxy(collection, {
    get(target, name) {
      if (name === Symbol.asyncIterator && reads++ === 0) throw new Error('read failed');
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
