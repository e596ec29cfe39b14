import { openDB } from 'idb';
import { afterEach, expect, test, vi } from 'vitest';
import { PageUnloadWriter } from '../../src/page/unload/recovery-record.ts';
import { unloadJournals } from '../../src/page/unload/unload-journal.ts';
import type { RecoveryRecord } from '../../src/protocol/recovery-records.ts';
import type { AcknowledgedChange } from '../../src/protocol/requests.ts';
import { plainSettings } from '../../src/protocol/settings.ts';
import { databaseName } from '../../src/storage/drivers/indexeddb-connection.ts';
import { indexedDbDriver } from '../../src/storage/drivers/indexeddb-driver.ts';

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

const changeOf = (number: number, body: unknown = '1') =>
  ({ number, turn: 1, request: { op: 'kvSet', handle: 1, key: 'a', body } }) as AcknowledgedChange;

/** The writer of a page that is hidden again and again. */
function hiddenPage() {
  const name = `unload writer ${++names} ${Math.random()}`;
  const writer = new PageUnloadWriter(name);
  let ending = 0;
  const next = (changes: readonly AcknowledgedChange[]) => ({
    ...record,
    changes,
    ending: ++ending,
  });
  return {
    hide: (...unsaved: AcknowledgedChange[]) => writer.journal(next(unsaved)),
    leave: (...unsaved: AcknowledgedChange[]) => writer.write(next(unsaved)),
    forget: () => writer.forget(),
    /** By ending, the numbers of the journaled changes. */
    journals: () =>
      Object.fromEntries(
        unloadJournals
          .read(name)
          .map(({ ending, changes }) => [ending, changes.map(({ number }) => number)]),
      ),
  };
}

const [one, two, three] = [changeOf(1), changeOf(2), changeOf(3)] as const;
const blob = changeOf(4, new Blob(['x']));

test('a page that is hidden again keeps one journal, of all unsaved changes', () => {
  const page = hiddenPage();
  page.hide(one);
  page.hide(one, two);
  page.hide(one, two);
  expect(page.journals()).toEqual({ 3: [1, 2] });
  page.hide(two, three);
  expect(page.journals()).toEqual({ 4: [2, 3] });
  page.forget();
  expect(page.journals()).toEqual({});
});

test('a journal that ends before a Blob takes the place of earlier ones that have no more', () => {
  const page = hiddenPage();
  page.hide(one);
  page.hide(one, blob, three);
  page.hide(one, blob, three);
  expect(page.journals()).toEqual({ 3: [1] });
});

test('a journal with less room leaves an earlier one that has more', () => {
  const page = hiddenPage();
  const long = changeOf(2, 'x'.repeat(1000));
  page.hide(one, long);
  const { setItem } = Storage.prototype;
  vi.spyOn(Storage.prototype, 'setItem').mockImplementation(function (this: Storage, key, text) {
    if (text.length > 900) throw new DOMException('The test leaves little.', 'QuotaExceededError');
    setItem.call(this, key, text);
  });
  page.hide(one, long, three);
  expect(page.journals()).toEqual({ 1: [1, 2], 2: [1] });
  // What only the first journal has is released.
  page.hide(three, changeOf(5, 'x'.repeat(1000)));
  expect(page.journals()).toEqual({ 3: [3] });
});

test('the journal of a page that came back stays until a journal has all changes', () => {
  const page = hiddenPage();
  page.leave(one, two);
  page.hide(one, blob);
  expect(page.journals()).toEqual({ 1: [1, 2], 2: [1] });
  page.hide(one, three);
  expect(page.journals()).toEqual({ 3: [1, 3] });
});
