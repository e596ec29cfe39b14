import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { encode } from '../../src/codec/capture.ts';
import { JOURNAL_ROOM, journalSize, unloadJournals } from '../../src/page/unload/unload-journal.ts';
import type { AcknowledgedChange } from '../../src/protocol/requests.ts';
import { plainSettings } from '../../src/protocol/settings.ts';

const opened = [[1, plainSettings('notes', 'DOCUMENT_BASED')]] as const;

/** An insert of a value. */
function change(number: number, value: unknown): AcknowledgedChange {
  const request = { op: 'insert', handle: 1, id: `n${number}`, body: encode(value, 'value') };
  return { number, turn: number, request } as AcknowledgedChange;
}

beforeEach(() => localStorage.clear());
// One of them leaves it full, and the next file has the same page.
afterAll(() => localStorage.clear());

test('a journal survives a round trip', () => {
  const changes = [
    { plain: 'ä\n\uD800', __proto: 1 },
    { at: new Date(7), bytes: new Uint8Array([1, 2, 255]), map: new Map([[1, new Set([2n])]]) },
    { nothing: undefined, wrong: Number.NaN, pattern: /a+/gi, $date: 0 },
  ].map((value, at) => change(at + 1, value));
  expect(unloadJournals.write('db', { client: 'page.1', ending: 1, opened, changes })).toBe(3);
  expect(unloadJournals.read('db')).toStrictEqual([
    { client: 'page.1', ending: 1, opened, changes },
  ]);
  expect(unloadJournals.read('d')).toEqual([]);
  expect(unloadJournals.read('db","page')).toEqual([]);
});

test('a change with a Blob or a key is left out', async () => {
  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt']);
  const request = { op: 'insert', handle: 1, id: 'n4', body: { exact: { key } } };
  const keyed = { number: 4, turn: 4, request } as AcknowledgedChange;
  const others = [change(1, { a: 1 }), change(2, { file: new Blob(['b']) }), change(3, { c: 3 })];
  unloadJournals.write('db', { client: 'page.1', ending: 1, opened, changes: [...others, keyed] });
  expect(unloadJournals.read('db')[0]?.changes.map(({ number }) => number)).toEqual([1, 3]);
  expect(journalSize(keyed.request)).toBe(Number.POSITIVE_INFINITY);
});

test('a gapless journal ends before the first change without room', () => {
  const changes = [change(1, { a: 1 }), change(2, { file: new Blob(['b']) }), change(3, { c: 3 })];
  const record = { client: 'page.1', ending: 1, opened, changes };
  expect(unloadJournals.write('db', record, true)).toBe(1);
  expect(unloadJournals.read('db')[0]?.changes.map(({ number }) => number)).toEqual([1]);
});

test('a change takes at most the characters of its journal size', () => {
  const quotes = '"\\'.repeat(1000);
  for (const value of [
    {},
    { text: 'x'.repeat(1000) },
    { text: quotes },
    { at: new Date(), text: quotes, bytes: new Uint8Array(1000) },
    { none: undefined, wrong: Number.NaN, numbers: [-Math.PI * 1e-300, -0, 1e21] },
    { map: new Map([[1n, new Set([/a+/g, undefined, Number.NaN])]]), list: [[], [{}], null] },
  ]) {
    const changes = [change(1, value)];
    unloadJournals.write('db', { client: 'page.1', ending: 1, opened, changes });
    const [text = ''] = Object.values(localStorage) as string[];
    const [, line = ''] = text.split('\n');
    expect(line.length).toBeGreaterThan(0);
    expect(line.length).toBeLessThanOrEqual(
      journalSize((changes[0] as AcknowledgedChange).request),
    );
    localStorage.clear();
  }
});

test('a journal has room for a thousand inserts of 280 bytes', () => {
  const { request } = change(1, { text: 'x'.repeat(270) });
  const insert = { ...request, id: 'x'.repeat(32), now: Date.now() };
  expect(1000 * journalSize(insert as AcknowledgedChange['request'])).toBeLessThan(JOURNAL_ROOM);
});

test('the journal size of a change with a Blob is infinite', () => {
  const file = new Blob(['b']);
  for (const value of [{ file }, [new Map([[file, 1]])], { a: { b: new Set([file]) } }])
    expect(journalSize(change(1, value).request)).toBe(Number.POSITIVE_INFINITY);
});

test('a change longer than the maximum line is left out', () => {
  const changes = [change(1, { a: 1 }), change(2, { a: 'x'.repeat(33 * 2 ** 20) })];
  expect(unloadJournals.write('db', { client: 'page.1', ending: 1, opened, changes })).toBe(1);
  expect(unloadJournals.read('db')[0]?.changes.map(({ number }) => number)).toEqual([1]);
});

test('a journal has the oldest changes, as many as fit', () => {
  const changes = Array.from({ length: 40 }, (_, n) => change(n, { text: 'x'.repeat(100_000) }));
  unloadJournals.write('db', { client: 'page.1', ending: 1, opened, changes });
  expect(unloadJournals.read('db')[0]?.changes.map(({ number }) => number)).toEqual([
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
  ]);
});

const chunk = 'x'.repeat(64 * 1024);

function fill(): void {
  expect(() => {
    for (let n = 0; n < 1000; n++) localStorage.setItem(`other ${n}`, chunk);
  }).toThrow();
}

test('a nearly full localStorage takes the oldest changes, as many as fit', () => {
  fill();
  localStorage.removeItem('other 0');
  const record = { client: 'page.1', ending: 1, opened };
  for (const [count, size] of [
    [40, 5000],
    [3, 50_000],
  ] as const) {
    const changes = Array.from({ length: count }, (_, n) =>
      change(n + 1, { text: 'y'.repeat(size) }),
    );
    const fitting = unloadJournals.write('db', { ...record, changes });
    const [read] = unloadJournals.read('db');
    expect(read).toStrictEqual({ ...record, changes: changes.slice(0, fitting) });
    // Each change has some overhead.
    expect(fitting).toBeGreaterThanOrEqual(Math.floor(60_000 / (size + 200)));
    expect(fitting).toBeLessThan(count);
    localStorage.removeItem('cairn:["db","page.1",1]');
  }
});

test('a full localStorage takes no change', () => {
  fill();
  const changes = [change(1, { text: chunk })];
  expect(unloadJournals.write('db', { client: 'page.1', ending: 1, opened, changes })).toBe(0);
  expect(unloadJournals.read('db')).toEqual([]);
});

test('forget removes the given journals and no later ones', () => {
  const write = (client: string, ending: number) =>
    unloadJournals.write('db', { client, ending, opened, changes: [change(ending, {})] });
  write('page.1', 1);
  write('page.2', 1);
  write('page.2', 2);
  expect(unloadJournals.read('db')).toHaveLength(3);
  unloadJournals.forget('db', [
    ['page.1', 1],
    ['page.2', 1],
    ['page.3', 1],
  ]);
  expect(unloadJournals.read('db')).toMatchObject([{ client: 'page.2', ending: 2 }]);
});

test('a damaged journal is removed with a warning', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  unloadJournals.write('db', { client: 'page.1', ending: 1, opened, changes: [change(1, {})] });
  const [key] = Object.keys(localStorage) as [string];
  const line = (value: unknown) => JSON.stringify(value);
  for (const text of [
    '',
    'null',
    '{}',
    '{',
    '{"$no":1}',
    '1\n{',
    '1',
    line({ client: 'page.1', ending: 1, opened: [1] }),
    line({ client: 'page.1', ending: 1, opened: [[1, null]] }),
    line({ client: 'page.1', ending: 1, opened: [[1, { name: 'notes' }]] }),
    line({ client: 'page.1', ending: 2, opened: [] }),
    `${line({ client: 'page.1', ending: 1, opened: [] })}\n${line(null)}`,
    `${line({ client: 'page.1', ending: 1, opened: [] })}\n${line({ turn: 1, number: 1 })}`,
    `${line({ client: 'page.1', ending: 1, opened: [] })}\n${line({ turn: '1', number: 1, request: { op: 'insert' } })}`,
  ]) {
    localStorage.setItem(key, text);
    expect(unloadJournals.read('db'), text).toEqual([]);
    expect(localStorage.getItem(key), text).toBeNull();
  }
  expect(warn).toHaveBeenCalledTimes(14);
  warn.mockRestore();
});

test('other pages are notified of a written journal', async () => {
  const heard = vi.fn();
  const longer = vi.fn();
  const stop = unloadJournals.onWritten('db', heard);
  const stopLast = unloadJournals.onWritten('db', longer);
  const frame = document.createElement('iframe');
  document.body.append(frame);
  try {
    const other = (frame.contentWindow as Window).localStorage;
    other.setItem('another', '1');
    other.setItem('cairn:["db","page.1",1]', '…');
    await expect.poll(() => heard.mock.calls.length).toBe(1);
    stop();
    other.setItem('cairn:["db","page.2",1]', '…');
    await expect.poll(() => longer.mock.calls.length).toBe(2);
  } finally {
    stopLast();
    frame.remove();
  }
  expect(heard).toHaveBeenCalledTimes(1);
});
