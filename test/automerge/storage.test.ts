import type { StorageAdapterInterface } from '@automerge/automerge-repo';
import { Repo } from '@automerge/automerge-repo';
import { runStorageAdapterTests } from '@automerge/automerge-repo/helpers/tests/storage-adapter-tests.js';
import { describe, expect, test } from 'vitest';
import { type AutomergeChunk, automergeStorage } from '../../src/automerge/index.ts';
import { Database } from '../../src/index.ts';
import { fc, runs } from '../setup/properties.ts';

function open(name: string = crypto.randomUUID(), storage?: 'memory') {
  const db = new Database({ name, ...(storage && { storage }) });
  const chunks = new db.Collection<AutomergeChunk>({
    name: 'chunks',
    type: 'DOCUMENT_BASED',
    indexes: ['doc'],
  });
  return { db, chunks, adapter: automergeStorage(chunks) satisfies StorageAdapterInterface };
}

describe.each(['memory', undefined] as const)('%s', (storage) => {
  runStorageAdapterTests(async () => {
    const { adapter, db } = open(undefined, storage);
    return { adapter, teardown: () => db.close() };
  }, storage ?? 'IndexedDB');
});

test('a text of Automerge is there after a reload', async () => {
  const first = open();
  const repo = new Repo({ storage: first.adapter });
  const letter = repo.create({ text: 'Dear Ada' });
  letter.change((draft) => {
    draft.text = 'Dear Bo';
  });
  await repo.flush();
  await repo.shutdown();
  await first.db.close();
  const second = open(first.db.name);
  const later = new Repo({ storage: second.adapter });
  const found = await later.find<{ text: string }>(letter.url);
  expect(found.doc()).toEqual({ text: 'Dear Bo' });
  await later.shutdown();
  await second.db.close();
});

test('a range has the keys that begin with its parts, whatever these are', async () => {
  const part = fc.string({
    unit: fc.constantFrom('a', 'b', '/', '0', '%', '2', 'F', '.', '\ud800'),
  });
  const key = fc.array(part, { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(fc.array(key, { maxLength: 12 }), key, async (keys, prefix) => {
      const { adapter, db } = open(undefined, 'memory');
      const kept = new Map(keys.map((one) => [JSON.stringify(one), one]));
      for (const one of keys) await adapter.save(one, new Uint8Array([one.length]));
      const begins = (one: string[]) => prefix.every((each, index) => one[index] === each);
      const found = (await adapter.loadRange(prefix)).map((chunk) => chunk.key);
      expect(found).toEqual([...kept.values()].filter(begins));
      expect((await adapter.loadRange([])).length).toBe(kept.size);
      await adapter.removeRange(prefix);
      for (const one of kept.values())
        expect((await adapter.load(one)) === undefined).toBe(begins(one));
      await db.close();
    }),
    runs(200),
  );
});

test('what is no collection of documents is refused', async () => {
  const { db } = open(undefined, 'memory');
  const settings = new db.Collection({ name: 'settings', type: 'KEY_VALUE_BASED' });
  for (const collection of [undefined, {}, settings] as never[])
    expect(() => automergeStorage(collection)).toThrow(
      expect.objectContaining({ code: 'option_invalid', place: 'collection' }),
    );
  await db.close();
});
