import { afterEach, expect, test, vi } from 'vitest';
import { AppKey } from '../../src/encryption/app-key.ts';
import { PageSealing } from '../../src/encryption/encrypted.ts';
import { PageKeys } from '../../src/encryption/page-keys.ts';
import type { LeaderEngine } from '../../src/page/connection/leadership.ts';
import {
  openingJournals,
  SharedLeaderships,
} from '../../src/page/connection/shared-leaderships.ts';
import { journalSize } from '../../src/page/unload/unload-journal.ts';
import type { RecoveryRecord } from '../../src/protocol/recovery-records.ts';
import type { AcknowledgedChange } from '../../src/protocol/requests.ts';
import { plainSettings } from '../../src/protocol/settings.ts';
import { deriveKeys } from '../../src/storage/encryption/data-keys.ts';
import {
  openPageRecord,
  type SealedPageRecord,
} from '../../src/storage/encryption/page-records.ts';
import { fc, runs } from '../setup/properties.ts';

afterEach(() => vi.restoreAllMocks());

const COLLECTIONS: RecoveryRecord['opened'] = [1, 2].map((handle) => [
  handle,
  plainSettings(`notes ${handle}`, 'KEY_VALUE_BASED'),
]);

const opened = (...handles: number[]) => COLLECTIONS.filter(([handle]) => handles.includes(handle));

/** A page with its keys. */
async function openPage() {
  const dataKeys = await deriveKeys(new Uint8Array(32).fill(7));
  const keys = new PageKeys(AppKey.of(new Uint8Array(32), 'key'));
  vi.spyOn(keys, 'dataKeys').mockResolvedValue(dataKeys);
  const sealing = new PageSealing('notes', keys);
  await sealing.pending;
  return { sealing, pages: dataKeys.pages };
}

const recordOf = (changes: readonly AcknowledgedChange[], ending = 1): RecoveryRecord => ({
  ...{ client: 'page.1', ending, database: 'a' },
  opened: COLLECTIONS,
  changes,
});

const changeOf = (number: number, handle = 1, body: unknown = `${number}`): AcknowledgedChange =>
  ({ number, turn: number, request: { op: 'kvSet', handle, key: 'a', body } }) as never;

/** What a page writes, one after the other. */
const written = (sealing: PageSealing, record: RecoveryRecord, isGapless = false) =>
  Array.from(sealing.forms(record, isGapless), ({ value, isWhole }) => ({
    ...(value as SealedPageRecord),
    isWhole,
  }));

test('acknowledged changes are written before calls in flight are sealed', async () => {
  const { sealing, pages } = await openPage();
  const [acknowledged, inFlight] = [changeOf(1), changeOf(2, 2)];
  await sealing.seal(recordOf([acknowledged]));
  const forms = written(sealing, recordOf([acknowledged, inFlight], 3));
  expect(forms.map(({ isWhole }) => isWhole)).toEqual([false, true]);
  const records = forms.map(({ key, sealed }) => openPageRecord(pages, key, sealed));
  expect(await Promise.all(records)).toEqual([
    { ...recordOf([acknowledged], 3), opened: opened(1) },
    recordOf([acknowledged, inFlight], 3),
  ]);
});

test('changes of a handle whose number another has by now are written with their collection', async () => {
  const { sealing, pages } = await openPage();
  const change = changeOf(1);
  await sealing.seal(recordOf([change]));
  const record = { ...recordOf([change]), opened: structuredClone(opened(1)) };
  const [form] = written(sealing, record);
  const found = openPageRecord(pages, ['page.1', 1], form?.sealed as string);
  expect(await found).toEqual(record);
});

test('a form says how many changes its journal has', async () => {
  const { sealing } = await openPage();
  const [acknowledged, inFlight, large] = [
    changeOf(1),
    changeOf(2),
    changeOf(3, 1, 'x'.repeat(600_000)),
  ];
  await sealing.seal(recordOf([acknowledged]));
  const record = recordOf([acknowledged, inFlight, large]);
  const counts = () => Array.from(sealing.forms(record, true), (form) => form.journal('notes'));
  vi.stubGlobal('document', {}); // only pages keep texts
  vi.stubGlobal('localStorage', { setItem: () => undefined });
  expect(counts()).toEqual([1, 2, 0]);
  vi.stubGlobal('localStorage', undefined);
  expect(counts()).toEqual([0, 0, 0]);
  vi.unstubAllGlobals();
});

test('a record opens for its own client alone, and with its own key', async () => {
  const { sealing, pages } = await openPage();
  await sealing.seal(recordOf([changeOf(1)]));
  const [form] = written(sealing, recordOf([changeOf(1)]));
  const sealed = form?.sealed as string;
  const { pages: others } = await deriveKeys(new Uint8Array(32).fill(8));
  await expect(openPageRecord(pages, ['page.2', 1], sealed)).rejects.toThrow();
  await expect(openPageRecord(others, ['page.1', 1], sealed)).rejects.toThrow();
  const damaged = `${sealed.slice(0, 20)}\u4001${sealed.slice(21)}`;
  await expect(openPageRecord(pages, ['page.1', 1], damaged)).rejects.toThrow();
});

test('every change that is not released is in the record, however it was sealed', async () => {
  const { sealing, pages } = await openPage();
  const kinds = fc.record({
    isReleased: fc.boolean(),
    isSealed: fc.boolean(),
    hasBlob: fc.boolean(),
  });
  const property = fc.asyncProperty(
    fc.array(fc.array(kinds, { maxLength: 4 }), { maxLength: 5 }),
    fc.boolean(),
    async (batches, isGapless) => {
      let number = 0;
      const left: AcknowledgedChange[] = [];
      for (const batch of batches) {
        const all = batch.map(({ hasBlob }) =>
          changeOf(++number, 1, hasBlob ? new Blob(['x']) : `${number}`),
        );
        await sealing.seal(recordOf(all.filter((_, at) => batch[at]?.isSealed)));
        left.push(...all.filter((_, at) => !batch[at]?.isReleased));
      }
      const hasBlob = ({ request }: AcknowledgedChange) =>
        'body' in request && !isText(request.body);
      const firstBlob = left.findIndex(hasBlob);
      const forms = written(sealing, recordOf(left), isGapless);
      // A page that lives on replays what is missing: later changes must not be there before.
      for (const { sealed } of isGapless ? forms : []) {
        const { changes } = await openPageRecord(pages, ['page.1', 1], sealed);
        expect(changes).toEqual(left.slice(0, changes.length));
      }
      const expected =
        isGapless && firstBlob >= 0
          ? left.slice(0, firstBlob)
          : left.filter((change) => !hasBlob(change));
      const last = forms.at(-1);
      expect(last !== undefined).toBe(expected.length > 0);
      if (!last) return;
      const found = await openPageRecord(pages, ['page.1', 1], last.sealed);
      expect([...found.changes].sort(byNumber)).toEqual(expected);
      expect(last.isWhole).toBe(expected.length === left.length);
    },
  );
  await fc.assert(property, runs(50));
});

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function byNumber(a: object, b: object): number {
  return (a as AcknowledgedChange).number - (b as AcknowledgedChange).number;
}

test('a sealed change takes no more room in a journal than its estimate', async () => {
  const { sealing } = await openPage();
  const settings = Array.from({ length: 50 }, (_, handle) => [
    handle,
    plainSettings(`notes ${handle}`, 'DOCUMENT_BASED'),
  ]) as unknown as RecoveryRecord['opened'];
  const numbers = [[1, 1]];
  const put = { op: 'kvSet', handle: 1, key: 'a', body: '1' };
  const requests = [put, { op: 'commit', handle: 0, changes: [put], numbers }];
  for (const request of requests as unknown as AcknowledgedChange['request'][]) {
    const changes = Array.from({ length: 100 }, (_, number) => ({ number, turn: number, request }));
    for (const change of changes) await sealing.seal({ ...recordOf([change]), opened: settings });
    const [form] = written(sealing, { ...recordOf(changes), opened: settings });
    expect(form?.sealed.length).toBeLessThan(100 * journalSize(request));
  }
});

test('what a journal has no room for is sealed for the store alone', async () => {
  const { sealing, pages } = await openPage();
  const large = [changeOf(1, 1, 'x'.repeat(600_000)), changeOf(2, 2)];
  const forms = written(sealing, recordOf(large));
  expect(forms.map(({ isWhole }) => isWhole)).toEqual([true]);
  const [form] = sealing.forms(recordOf(large), false);
  expect(form?.journal('notes')).toBe(0);
  expect(await openPageRecord(pages, ['page.1', 1], forms[0]?.sealed ?? '')).toEqual(
    recordOf(large),
  );
});

test('journals that could not be read while the database opened are read afterwards', async () => {
  const journal = recordOf([changeOf(1)]);
  const readJournals = vi
    .fn()
    .mockResolvedValue([journal])
    .mockRejectedValueOnce(new Error('busy'));
  const replayJournals = vi.fn();
  const start = openingJournals(
    async ({ journals }) => {
      expect(await journals).toEqual([]);
      return { replayJournals } as unknown as LeaderEngine;
    },
    'notes',
    { readJournals, isOutdated: async () => false } as never,
  );
  await start({} as never, {} as never);
  await expect.poll(() => replayJournals.mock.calls.length).toBeGreaterThan(0);
  expect(replayJournals).toHaveBeenCalledWith([journal]);
});

test('encrypted memory leaves the journals of a shared database of its name alone', async () => {
  const readJournals = vi.fn(async () => []);
  const settings = { name: 'notes', storage: 'memory', encryption: { readJournals } };
  const start = vi.fn(async () => ({}));
  const access = new SharedLeaderships().access(
    settings as never,
    {} as never,
    start as never,
    true,
  );
  await access.start?.({} as never, {} as never);
  expect(start).toHaveBeenCalledOnce();
  expect(readJournals).not.toHaveBeenCalled();
});
