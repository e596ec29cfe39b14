import { afterEach, expect, test, vi } from 'vitest';
import { connect } from '../../src/cairndb.ts';
import { Random } from '../setup/random.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

const COUNT = 5000;

async function openNotes() {
  const db = connect({ name: `file worker ${Math.random()}` });
  const notes = new db.Collection<{ n: number; text: string }>({
    name: 'notes',
    type: 'DOCUMENT_BASED',
  });
  const random = new Random(1);
  // Hardly compressible.
  const textOf = () => Array.from({ length: 20 }, () => random.next().toString(36)).join('');
  await notes.insertMany(Array.from({ length: COUNT }, (_, n) => ({ n, text: textOf() })));
  return { db, notes };
}

test('a worker writes and reads files: the page compresses nothing', async () => {
  const { db, notes } = await openNotes();
  vi.stubGlobal('CompressionStream', undefined);
  vi.stubGlobal('DecompressionStream', undefined);
  const file = await new Response(await notes.exportBackup(await notes.createBackup())).blob();
  await notes.deleteMany({});
  expect(await notes.importBackup(file)).toBe(COUNT);
  expect((await notes.filter({})).map(({ n }) => n)).toEqual(
    Array.from({ length: COUNT }, (_, n) => n),
  );
  await db.close();
});

test('calls are answered during an export, which has the backup as of its begin', async () => {
  const { db, notes } = await openNotes();
  const reader = (await notes.exportBackup(await notes.createBackup())).getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  // The stream buffers a chunk or two and writes the rest on demand.
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    chunks.push(next.value as Uint8Array<ArrayBuffer>);
    await notes.insert({ n: -chunks.length, text: '' });
    expect(await notes.deleteMany({ n: chunks.length })).toBe(1);
    expect(await notes.count()).toBe(COUNT);
  }
  expect(chunks.length).toBeGreaterThan(4);
  expect(await notes.importBackup(new Blob(chunks))).toBe(COUNT);
  expect(await notes.count({ n: { $gte: 0 } })).toBe(COUNT);
  await db.close();
});
