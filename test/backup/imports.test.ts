import { afterEach, describe, expect, test, vi } from 'vitest';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { rejection } from '../contract/outcomes.ts';
import { openClient } from '../engine/engine-client.ts';
import { sealed } from './file/files.ts';

const SILENCE_MS = 60_000;
const CLOSING_SILENCE_MS = 2000;

/** Time passes as the test says. */
const holdTime = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });

const open = () => {
  const { client } = openClient(memoryDriver());
  const things = new client.Collection<{ n: number }>({ name: 'things', type: 'DOCUMENT_BASED' });
  return { client, things };
};

type Opened = ReturnType<typeof open>;

async function fileOf({ things }: Opened): Promise<Blob> {
  return new Response(await things.exportBackup(await things.createBackup())).blob();
}

/** A stream of the first bytes of a file; the test releases the rest. */
function inTwo(file: Blob, bytes: number) {
  let more: () => void = () => undefined;
  const told = new Promise<void>((resolve) => {
    more = resolve;
  });
  let silent: () => void = () => undefined;
  const parts = [file.slice(0, bytes), file.slice(bytes)];
  const isSilent = new Promise<void>((resolve) => {
    silent = resolve;
  });
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const part = parts.shift();
    if (!part) return controller.close();
    if (parts.length === 0) {
      silent();
      await told;
    }
    controller.enqueue(new Uint8Array(await part.arrayBuffer()));
  };
  return { stream: new ReadableStream({ pull }, { highWaterMark: 0 }), isSilent, more };
}

const imports = {
  importBackup: ({ things }: Opened, file: Blob | ReadableStream<Uint8Array>) =>
    things.importBackup(file),
  importAll: ({ client }: Opened, file: Blob | ReadableStream<Uint8Array>) =>
    client.importAll(file),
};

describe.each(Object.keys(imports) as (keyof typeof imports)[])('%s', (method) => {
  const importing = imports[method];

  afterEach(() => void vi.useRealTimers());

  test.each([1, 60, -1])('gives up a silent stream, after %i bytes', async (bytes) => {
    const opened = open();
    const { things, client } = opened;
    await things.insert({ _id: 'a', n: 1 });
    const file = await fileOf(opened);
    const { stream, isSilent } = inTwo(file, bytes);
    holdTime();
    const failing = rejection(importing(opened, stream));
    const waiting = things.insert({ _id: 'b', n: 2 });
    await isSilent;
    await vi.advanceTimersByTimeAsync(SILENCE_MS);
    expect(await failing).toMatchObject({ code: 'file_stalled', place: 'stream' });
    await waiting;
    expect((await things.filter({})).map(({ _id }) => _id)).toEqual(['a', 'b']);
    vi.useRealTimers();
    expect(await importing(opened, file)).toBe(1);
    await client.close();
  });

  test.each([1, 60, -1])('delays close() little if silent, after %i bytes', async (bytes) => {
    const opened = open();
    const { things, client } = opened;
    await things.insert({ _id: 'a', n: 1 });
    const { stream, isSilent } = inTwo(await fileOf(opened), bytes);
    holdTime();
    const failing = rejection(importing(opened, stream));
    await isSilent;
    const ended = vi.fn();
    const closing = client.close().then(ended);
    await vi.advanceTimersByTimeAsync(CLOSING_SILENCE_MS);
    vi.useRealTimers();
    await expect.poll(() => ended.mock.calls.length).toBe(1);
    await closing;
    expect(await failing).toMatchObject({ code: 'file_stalled' });
  });

  test('is completed before close() while bytes come', async () => {
    const opened = open();
    const { things, client } = opened;
    await things.insert({ _id: 'a', n: 1 });
    const { stream, isSilent, more } = inTwo(await fileOf(opened), 60);
    holdTime();
    const done = importing(opened, stream);
    await isSilent;
    const closing = client.close();
    await vi.advanceTimersByTimeAsync(CLOSING_SILENCE_MS - 1);
    more();
    expect(await done).toBe(1);
    await closing;
  });

  test('limits each silence, not the total time', async () => {
    const opened = open();
    const { things, client } = opened;
    await things.insert({ _id: 'a', n: 1 });
    const bytes = new Uint8Array(await (await fileOf(opened)).arrayBuffer());
    holdTime();
    let at = 0;
    const slow = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        await new Promise((resolve) => setTimeout(resolve, SILENCE_MS - 1));
        if (at >= bytes.length) return controller.close();
        controller.enqueue(bytes.subarray(at, at + 100));
        at += 100;
      },
    });
    const done = importing(opened, slow);
    await vi.advanceTimersByTimeAsync(SILENCE_MS * (bytes.length / 100 + 3));
    expect(await done).toBe(1);
    vi.useRealTimers();
    await client.close();
  });

  test('is awaited by close()', async () => {
    const opened = open();
    const { things, client } = opened;
    await things.insert({ _id: 'a', n: 1 });
    const file = await fileOf(opened);
    const { stream, isSilent, more } = inTwo(file, 60);
    const done = importing(opened, stream);
    await isSilent;
    const closing = client.close();
    const late = rejection(importing(opened, file));
    more();
    expect(await done).toBe(1);
    await closing;
    expect(await late).toMatchObject({ code: 'closed' });
  });

  test.each([
    undefined,
    null,
    'path',
    5,
    {},
    new Uint8Array(3),
    { stream: () => 5 },
    { getReader: () => undefined },
    { getReader: () => ({ read: () => 5 }) },
    new ReadableStream({ start: (controller) => controller.enqueue('text') }),
    new ReadableStream({ start: (controller) => controller.enqueue(new ArrayBuffer(4)) }),
  ])('refuses other sources: %o', async (source) => {
    const opened = open();
    await opened.things.insert({ _id: 'a', n: 1 });
    const error = await rejection(importing(opened, source as never));
    expect(error).toMatchObject({ code: 'option_invalid', place: 'stream' });
    expect(await opened.things.count()).toBe(1);
    await opened.client.close();
  });
});

describe('a handmade file', () => {
  const line = (fields: object) =>
    JSON.stringify({ key: 'k', order: 1, flags: 0, body: { n: 1 }, ...fields });
  const exact = (value: unknown) => JSON.stringify({ key: 'k', order: 1, flags: 0, exact: value });

  const documents: Record<string, readonly string[]> = {
    'a number': [line({ body: 5 })],
    'a text': [line({ body: 'text' })],
    'a list': [line({ body: [1] })],
    null: [line({ body: null })],
    undefined: [exact({ $undefined: true })],
    'a Map': [exact({ $map: [] })],
    'a document with an id inside': [line({ body: { _id: 'other' } })],
    'a document with a managed field': [line({ body: { _archived: true } })],
    'one key twice, in one segment': [line({}), line({ order: 2 })],
    'one key twice, in two segments': [
      line({ body: { pad: 'p'.repeat(200_000) } }),
      line({ order: 2 }),
    ],
    'the greatest rank, which leaves none for later records': [
      line({ order: Number.MAX_SAFE_INTEGER }),
    ],
    'a document with __proto__ inside': [
      '{"key":"k","order":1,"flags":0,"body":{"a":{"__proto__":{"polluted":1}}}}',
    ],
  };

  test.each(Object.keys(documents))('is refused with %s', async (name) => {
    const opened = open();
    const { things, client } = opened;
    await things.insert({ _id: 'a', n: 1 });
    const file = new Blob([
      await sealed(documents[name] as string[], {
        header: { type: 'DOCUMENT_BASED', collection: 'things' },
      }),
    ]);
    for (const run of Object.values(imports)) {
      const error = await rejection(run(opened, file));
      expect(error).toMatchObject({ code: 'file_damaged', place: expect.stringMatching(/./) });
    }
    expect(await things.filter({})).toMatchObject([{ _id: 'a', n: 1 }]);
    expect(await things.verify()).toMatchObject({ whole: true });
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    await client.close();
  });

  test('is refused with an unreachable key', async () => {
    const { client } = open();
    const values = new client.Collection({ name: 'values', type: 'KEY_VALUE_BASED' });
    const header = { collection: 'values', type: 'KEY_VALUE_BASED' };
    const file = new Blob([await sealed([line({ key: '__proto__' })], { header })]);
    expect(await rejection(values.importBackup(file))).toMatchObject({ code: 'file_damaged' });
    expect(await rejection(values.set('__proto__', 1))).toMatchObject({ code: 'key_invalid' });
    await client.close();
  });

  test('is refused with a collection of an invalid name or type', async () => {
    const { client } = open();
    const header = { type: 'DOCUMENT_BASED', collection: 'c'.repeat(129) };
    const file = new Blob([await sealed([line({})], { header })]);
    expect(await rejection(client.importAll(file))).toMatchObject({ code: 'file_damaged' });
    const construct = () =>
      new client.Collection({ name: header.collection, type: 'DOCUMENT_BASED' });
    expect(construct).toThrow('a string of 1 to 128 characters');
    await client.close();
  });
});

test('a label has a maximum length', async () => {
  const { client, things } = open();
  const longest = 'l'.repeat(1000);
  await things.createBackup({ label: longest });
  expect(await things.listBackups()).toMatchObject([{ label: longest }]);
  expect(await rejection(things.createBackup({ label: `${longest}l` }))).toMatchObject({
    code: 'option_invalid',
    place: 'label',
  });
  await client.close();
});

test('a merge that a unique index refuses names both documents', async () => {
  const { client } = openClient(memoryDriver());
  const options = { type: 'DOCUMENT_BASED', indexes: [{ fields: 'code', unique: true }] } as const;
  const source = new client.Collection<{ code: string }>({ ...options, name: 'source' });
  await source.insert({ _id: 'of the file', code: 'x' });
  const file = await fileOf({ client, things: source as never });
  const target = new client.Collection<{ code: string }>({ ...options, name: 'target' });
  await target.insert({ _id: 'there', code: 'x' });
  const error = await rejection(target.importBackup(file, { mode: 'merge' }));
  expect(error).toMatchObject({ code: 'unique_violation' });
  expect(error.message).toContain('"of the file"');
  expect(error.message).toContain('"there"');
  await client.close();
});
