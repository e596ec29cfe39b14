import { afterEach, expect, test } from 'vitest';
import { Database, type DocumentCollection, memoryDriver } from '../../src/index.ts';
import { replicate } from '../../src/replication/index.ts';
import { MemoryRemote } from '../replication/memory-remote.ts';

interface Place {
  name?: string;
  at?: unknown;
  open?: boolean;
}

type Places = DocumentCollection<Place>;

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

function device(remote: MemoryRemote) {
  const db = new Database({ name: crypto.randomUUID(), storage: 'memory' });
  const notes = new db.Collection<{ text?: string; at?: number[] }>({
    ...{ name: 'notes', type: 'DOCUMENT_BASED' },
    indexes: [{ vector: 'at', dimensions: 2, metric: 'cosine' }, { text: 'text' }],
  });
  const sync = replicate(notes, { remote });
  open.push(async () => {
    await sync.stop();
    await db.close();
  });
  const near = async () => (await notes.nearest([1, 1])).map(({ document }) => document._id).sort();
  return { notes, sync, near };
}

// Another app may write with another model, and this one cannot mend it.
test('documents of a server with wrong vectors come, and no neighbours are found of them', async () => {
  const remote = new MemoryRemote();
  remote.write('good', { text: 'a', at: [1, 2] });
  remote.write('long', { text: 'b', at: [1, 2, 3] });
  remote.write('zero', { text: 'b', at: [0, 0] });
  const { notes, sync, near } = device(remote);
  await sync.settled();
  expect(await notes.count()).toBe(3);
  expect(await near()).toEqual(['good']);
  expect(await notes.search('b')).toHaveLength(2);
  remote.edit('good', { at: 'none' });
  remote.edit('long', { at: [3, 4] });
  await sync.settled();
  expect(await near()).toEqual(['long']);
  const refused = notes.patch('zero', { at: [0, 0], text: 'c' });
  await expect(refused).rejects.toMatchObject({ code: 'vector_invalid' });
  await notes.patch('zero', { at: [1, 0] });
  await sync.settled();
  expect(await near()).toEqual(['long', 'zero']);
  expect(remote.document('zero')).toMatchObject({ at: [1, 0] });
});

test('a file from before the index brings documents with other values there', async () => {
  const before = new Database({ name: 'before', storage: memoryDriver() });
  const old = new before.Collection<Place>({ name: 'places', type: 'DOCUMENT_BASED' });
  await old.insertMany([
    { _id: 'right', at: [1, 2] },
    { _id: 'wrong', at: 'text' },
  ]);
  const file = await new Response(await old.exportBackup(await old.createBackup())).blob();
  await before.close();
  for (const mode of ['merge', 'replace'] as const) {
    const db = new Database({ name: mode, storage: memoryDriver() });
    const places = new db.Collection<Place>({
      ...{ name: 'places', type: 'DOCUMENT_BASED' },
      indexes: [{ vector: 'at', dimensions: 2, metric: 'euclidean' }],
    });
    await places.importBackup(file, { mode });
    const found = await places.nearest([0, 0]);
    expect(found.map(({ document }) => document._id)).toEqual(['right']);
    expect(await places.count()).toBe(2);
    await db.close();
  }
});

test.each([
  ['was archived', (places: Places) => places.archive('b')],
  ['was deleted', (places: Places) => places.delete('b')],
  ['no longer matches the criteria', (places: Places) => places.patch('b', { open: false })],
])('a hybrid shows no document that %s after its words were found', async (_, change) => {
  const db = new Database({ name: 'hybrid', storage: memoryDriver() });
  const places: Places = new db.Collection<Place>({
    ...{ name: 'places', type: 'DOCUMENT_BASED' },
    indexes: [{ vector: 'at', dimensions: 2, metric: 'euclidean' }, { text: 'name' }],
  });
  await places.insertMany([
    { _id: 'a', name: 'harbour', at: [1, 2], open: true },
    { _id: 'b', name: 'harbour', open: true },
    { _id: 'c', name: 'harbour', open: true },
  ]);
  await places.hybrid('harbour', [0, 0]); // loads its code
  // Between the two halves of the search.
  const asked = places.hybrid('harbour', [0, 0], { criteria: { open: true } });
  const [hits] = await Promise.all([asked, change(places)]);
  expect(hits.map(({ document }) => document._id)).toEqual(['a', 'c']);
  await db.close();
});
