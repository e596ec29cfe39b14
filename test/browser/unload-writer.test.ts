import { openDB } from 'idb';
import { afterEach, expect, test, vi } from 'vitest';
import { plainSettings } from '../../src/engine/protocol/settings.ts';
import type { RecoveryRecord } from '../../src/engine/recovery/recovery-records.ts';
import { databaseName } from '../../src/storage/drivers/indexeddb-connection.ts';
import { indexedDbDriver } from '../../src/storage/drivers/indexeddb-driver.ts';
import { PageUnloadWriter } from '../../src/transport/unload/recovery-record.ts';
import { unloadJournals } from '../../src/transport/unload/unload-journal.ts';

afterEach(() => {
  vi.restoreAllMocks();
  localStorage.clear();
});

const record = {
  client: 'page.1',
  ending: 1,
  opened: [[1, plainSettings('notes', 'DOCUMENT_BASED')]],
  changes: [{ number: 1, turn: 1, request: { op: 'kvSet', handle: 1, key: 'a', body: '1' } }],
} as const satisfies RecoveryRecord;

let names = 0;

/** Writes the record as a page does that ends; returns where it is then. */
async function write(prefersJournal: boolean) {
  const name = `unload writer ${++names} ${Math.random()}`;
  const storage = await indexedDbDriver().open(name, { damaged: () => undefined });
  await storage.write([{ type: 'put', store: 'segments', key: ['a'], value: {} }], 'relaxed');
  const writer = new PageUnloadWriter(name);
  writer.prepare();
  // Its connection is open once this succeeds.
  await expect.poll(() => writer.store({ ...record, ending: 0 })).toBeTruthy();
  const isWritten = writer.write(record, prefersJournal);
  const database = await openDB(databaseName(name));
  const stored = (await database.getAllKeys('recovery')) as [client: string, ending: number][];
  const journaled = unloadJournals.read(name);
  for (const open of [database, writer, storage]) void open.close();
  return {
    isWritten,
    isStored: stored.some(([, ending]) => ending === record.ending),
    isJournaled: journaled.length > 0,
  };
}

test('a page that ends writes to the journal and to IndexedDB', async () => {
  expect(await write(false)).toEqual({ isWritten: true, isStored: true, isJournaled: true });
});

test('a page that prefers the journal begins no transaction of IndexedDB', async () => {
  expect(await write(true)).toEqual({ isWritten: true, isStored: false, isJournaled: true });
});

test('a page that prefers the journal writes to IndexedDB if the journal has no room', async () => {
  vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
    throw new DOMException('The test leaves no room.', 'QuotaExceededError');
  });
  expect(await write(true)).toEqual({ isWritten: true, isStored: true, isJournaled: false });
});
