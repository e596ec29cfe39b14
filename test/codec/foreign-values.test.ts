import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { decode, encode } from '../../src/codec/capture.ts';
import { Database } from '../../src/index.ts';
import { storageErrorOf } from '../../src/storage/drivers/storage-failure.ts';

/** What a minifier makes of Svelte's reactive classes. */
const SvelteDate = (() => class e extends Date {})();
const SvelteMap = (() => class t extends Map<unknown, unknown> {})();
const SvelteSet = (() => class n extends Set<unknown> {})();

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

const SETTINGS = { name: 'things', type: 'DOCUMENT_BASED' } as const;

function open() {
  const db = new Database({ name: 'foreign values', storage: 'memory' });
  onTestFinished(() => db.close());
  const things = new db.Collection<Record<string, unknown>>({ ...SETTINGS });
  return { db, things };
}

test('values of another realm come back as those of this one', () => {
  const foreign = runInNewContext(`({
    buffer: new Uint8Array([1, 2]).buffer, bytes: new Uint8Array([3]), view: new DataView(new ArrayBuffer(2)),
    floats: new Float32Array([1.5]), at: new Date(5), map: new Map([[1, 2]]), set: new Set([1]), like: /a/g,
  })`);
  const own = decode(encode(foreign, 'document')) as Record<string, unknown>;
  expect(own).toEqual({
    ...{ buffer: new Uint8Array([1, 2]).buffer, bytes: new Uint8Array([3]) },
    ...{ view: new DataView(new ArrayBuffer(2)), floats: new Float32Array([1.5]) },
    ...{ at: new Date(5), map: new Map([[1, 2]]), set: new Set([1]), like: /a/g },
  });
  for (const [name, Class] of Object.entries({
    ...{ buffer: ArrayBuffer, bytes: Uint8Array, view: DataView, floats: Float32Array },
    ...{ at: Date, map: Map, set: Set, like: RegExp },
  }))
    expect(own[name] instanceof Class, name).toBe(true);
});

test('a Buffer of Node is its bytes, in documents and criteria', async () => {
  const { things } = open();
  const { _id } = await things.insert({ bytes: Buffer.from('ab') });
  expect(await things.get(_id)).toMatchObject({ bytes: new Uint8Array([97, 98]) });
  expect((await things.get(_id))?.bytes?.constructor).toBe(Uint8Array);
  expect(await things.count({ bytes: Buffer.from('ab') })).toBe(1);
});

test('subclasses count as their base in criteria, and are refused in documents by it', async () => {
  const { things } = open();
  const [at, map, set] = [new Date(5), new Map([[1, 2]]), new Set([1])];
  await things.insertMany([{ at, map, set }, { at: new Date(1) }]);
  const counts = await Promise.all([
    things.count({ at: { $gte: new SvelteDate(5) } }),
    things.count({ at: new SvelteDate(5) }),
    things.count({ map: new SvelteMap(map) }),
    things.count({ set: { $in: [new SvelteSet(set)] } }),
  ]);
  expect(counts).toEqual([1, 1, 1, 1]);
  for (const [value, base] of [
    [new SvelteDate(5), 'Date'],
    [new SvelteMap(), 'Map'],
    [new SvelteSet(), 'Set'],
  ] as const)
    await expect(things.insert({ value })).rejects.toMatchObject({
      ...{ code: 'value_unsupported', place: 'document.value' },
      message: expect.stringContaining(`a subclass of ${base} (write new ${base}(value))`),
    });
});

test('what $pull compares is no value that is stored', async () => {
  const { things } = open();
  const [first, second, third] = [new Date(1), new Date(2), new Date(3)];
  const items = [{ at: first }, { at: third }];
  const { _id } = await things.insert({ dates: [first, second], others: [first, second], items });
  const changed = await things.patch(_id, {
    $pull: { dates: new SvelteDate(1), items: { at: { $gte: new SvelteDate(3) } } },
    $pullAll: { others: [new SvelteDate(1)] },
    $set: { n: 1 },
  } as never);
  expect(changed).toMatchObject({
    dates: [second],
    others: [second],
    items: [{ at: first }],
    n: 1,
  });
  const stored = { $pull: { dates: second }, $push: { others: new SvelteDate(1) } };
  await expect(things.patch(_id, stored as never)).rejects.toMatchObject({
    ...{ code: 'value_unsupported', place: 'changes.$push.others' },
  });
});

test('a revoked proxy is a typed error wherever a call takes an object', async () => {
  const { db, things } = open();
  const values = new db.Collection({ name: 'values', type: 'KEY_VALUE_BASED' });
  const [list, object] = [revoked([]) as never, revoked({}) as never];
  await things.upsert({ _id: 'a' });
  const calls: [string, () => unknown][] = [
    ['document_invalid', () => things.insertMany(list)],
    ['document_invalid', () => things.upsertMany(list)],
    ['document_invalid', () => things.modify('a', () => object)],
    ['id_invalid', () => things.getMany(list)],
    ['key_invalid', () => values.get(list)],
    ['key_invalid', () => values.live(list).ready],
    ['sort_invalid', () => things.filter({}, { sort: object })],
    ['select_invalid', () => things.filter({}, { select: list })],
    ['option_invalid', () => things.filter({}, object)],
    ['option_invalid', () => things.filter({}, { after: object })],
    ['option_invalid', () => things.filter({}, { signal: object })],
    ['option_invalid', () => things.createBackup(object)],
    ['option_invalid', () => things.importBackup(object)],
    ['option_invalid', () => db.transaction(() => 1, object)],
    ['option_invalid', () => new Database(object)],
    ['option_invalid', () => new db.Collection(object)],
    ['option_invalid', () => new db.Collection({ ...SETTINGS, indexes: list })],
    ['option_invalid', () => new db.Collection({ ...SETTINGS, indexes: [object] })],
    ['option_invalid', () => new db.Collection({ ...SETTINGS, schema: object })],
  ];
  for (const [code, call] of calls)
    await expect((async () => call())(), String(call)).rejects.toMatchObject({ code });
});

test('a revoked proxy is a typed error', async () => {
  const { things } = open();
  for (const target of [{ a: 1 }, [1]]) {
    const calls = [
      ...[() => things.insert({ a: revoked(target) }), () => things.count({ a: revoked(target) })],
      ...[() => things.insert(revoked(target) as never), () => things.count(revoked(target))],
      ...[
        () => things.patch('a', revoked(target)),
        () => things.patch('a', { b: revoked(target) }),
      ],
    ];
    for (const call of calls)
      await expect(call()).rejects.toMatchObject({
        code: expect.stringMatching(/^(value_unsupported|document_invalid|criteria_invalid)$/),
      });
  }
});

test('estimate() answers in an opaque origin', async () => {
  const { db } = open();
  const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  onTestFinished(() => {
    if (before) Object.defineProperty(globalThis, 'navigator', before);
    else Reflect.deleteProperty(globalThis, 'navigator');
  });
  const refuse = () => Promise.reject(new TypeError('The operation is not supported.'));
  const storage = { estimate: refuse, persist: refuse, persisted: refuse };
  Object.defineProperty(globalThis, 'navigator', { value: { storage }, configurable: true });
  expect(await db.storage.estimate()).toMatchObject({ usage: 'unsupported', quota: 'unsupported' });
  expect(await db.storage.persist()).toBe('unsupported');
});

test('a full disk is storage_full, also where Chromium writes Blobs', () => {
  const cause = new DOMException('Failed to write blobs (IOError)', 'DataError');
  expect(storageErrorOf(cause, 'saving').code).toBe('storage_full');
});
