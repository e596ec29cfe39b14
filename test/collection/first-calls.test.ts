import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Database } from '../../src/index.ts';

const CALLS = '../../src/page/calls/runtime.ts';
const ENGINE = '../../src/page/connection/thread-engine.ts';
const SLOW = '../../src/page/calls/slow-queries.ts';

let lib: typeof import('../../src/index.ts');
let db: Database;

/**
 * A fresh process: no code of calls is loaded. In a page, which another file may have left, clients
 * load it early.
 */
beforeEach(async () => {
  Reflect.deleteProperty(globalThis, 'document');
  vi.resetModules();
  lib = await import('../../src/index.ts');
  db = new lib.Database({ name: `first ${Math.random()}`, storage: 'memory' });
});

afterEach(async () => {
  vi.doUnmock(CALLS);
  vi.doUnmock(ENGINE);
  vi.doUnmock(SLOW);
  vi.restoreAllMocks();
  await db.close();
});

const documents = () =>
  new db.Collection<{ n: number; list?: number[] }>({ name: 'things', type: 'DOCUMENT_BASED' });
const keyValues = () => new db.Collection({ name: 'values', type: 'KEY_VALUE_BASED' });

test('calls before the code is loaded take effect in order, through two handles', async () => {
  const one = documents();
  const other = documents();
  const answers = await Promise.all([
    one.insert({ _id: 'a', n: 1 }),
    other.count(),
    one.insertMany([{ n: 2 }, { n: 3 }]),
    other.count(),
    one.deleteMany(({ n }) => n > 1),
    other.count(),
  ]);
  expect([answers[1], answers[3], answers[4], answers[5]]).toEqual([1, 3, 2, 1]);
});

test('what map passes beside an item is not copied for each of them', async () => {
  const things = documents();
  const read = vi.fn(() => 1);
  const others = Object.defineProperty([{ n: 1 }], 1, { get: read, enumerable: true });
  await (things.insert as (...args: unknown[]) => Promise<unknown>).call(
    ...([things, { n: 1 }, 0, others] as const),
  );
  expect(read).not.toHaveBeenCalled();
});

test.each(['Database', 'connect'] as const)(
  'the engine of %s loads beside the calls, and not before the first of them',
  async (name) => {
    let loadCalls = (): void => undefined;
    const mayLoad = new Promise<void>((resolve) => {
      loadCalls = resolve;
    });
    let isLoading = false;
    vi.doMock(CALLS, async (load) => {
      await mayLoad;
      return load();
    });
    const loading = new Promise<void>((resolve) => {
      vi.doMock(ENGINE, (load) => {
        isLoading = true;
        resolve();
        return load();
      });
    });
    await db.close();
    const options = { name: `first ${Math.random()}`, storage: 'memory' } as const;
    db = name === 'Database' ? new lib.Database(options) : (lib.connect(options) as Database);
    const things = documents();
    expect(isLoading).toBe(false);
    const inserted = things.insert({ _id: 'a', n: 1 });
    await loading;
    loadCalls();
    expect(await inserted).toMatchObject({ n: 1 });
  },
);

test('a call made while queued calls start follows them', async () => {
  const counts: Promise<number>[] = [];
  let turns = 0;
  const countAgain = (): void => {
    counts.push(things.count());
    if (++turns < 200) queueMicrotask(countAgain);
  };
  // In each microtask after the code has loaded.
  const counting = import(CALLS).then(countAgain);
  const things = documents();
  await Promise.all(Array.from({ length: 20 }, (_, n) => things.insert({ n })));
  await counting;
  expect(new Set(await Promise.all(counts))).toEqual(new Set([20]));
});

test('queued calls copy their arguments at once', async () => {
  const things = documents();
  const values = keyValues();
  const given = { _id: 'a', n: 1, list: [1] };
  const patch = { n: 2 };
  const criteria = { n: { $gt: 1 } };
  const sort: { n: 1 | -1 } = { n: -1 };
  const options = { sort, limit: 2, where: ({ n }: { n: number }) => n < 9 };
  const many = [{ n: 8 }, { n: 9 }];
  const key = ['a', 'b'];
  const value = { list: [1] };
  const answers = Promise.all([
    things.insert(given),
    things.patch('a', patch),
    things.insertMany(many),
    things.filter(criteria, options),
    values.set(key, value),
    values.get('a'),
  ]);
  const iterating = things.each(criteria, { sort }).next();
  given.list.push(2);
  patch.n = 3;
  criteria.n.$gt = 100;
  sort.n = 1;
  options.limit = 0;
  options.where = () => false;
  many.length = 0;
  key[1] = 'c';
  value.list.push(2);
  const [inserted, patched, , found, , got] = await answers;
  expect(inserted.list).toEqual([1]);
  expect(patched?.n).toBe(2);
  expect(found.map(({ n }) => n)).toEqual([8, 2]);
  expect(got).toEqual({ b: { list: [1] } });
  expect((await iterating).value).toMatchObject({ n: 9 });
});

test('queued calls with invalid arguments are refused with the usual errors', async () => {
  const things = documents();
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  const broken = {
    get sort(): never {
      throw new Error('no sort');
    },
  };
  const outcomes = await Promise.allSettled([
    things.insert({ n: 1, f: () => 1 } as never),
    things.insert(cyclic as never),
    things.filter({}, { limit: 'many' } as never),
    things.filter({}, { sort: { n: () => 1 } } as never),
    things.filter({}, 5 as never),
    things.insertMany(7 as never),
    things.filter({}, broken),
    keyValues().set({} as never, 1),
  ]);
  const reported = outcomes.map(
    (outcome) =>
      outcome.status === 'rejected' && [outcome.reason.code, outcome.reason.place].join(' '),
  );
  expect(reported).toEqual([
    'value_unsupported document.f',
    'value_cyclic document.self',
    'option_invalid limit',
    'sort_invalid sort.n',
    'option_invalid options',
    'document_invalid documents',
    ' ',
    'key_invalid key',
  ]);
});

test('save and close wait for queued calls', async () => {
  const things = documents();
  const inserting = things.insert({ n: 1 });
  await db.save();
  expect(db.status).toMatchObject({ unsaved: 0, last_save: expect.any(Date) });
  expect((await inserting).n).toBe(1);
  const more = things.insert({ n: 2 });
  const closing = db.close();
  await expect(things.count()).rejects.toMatchObject({ code: 'closed' });
  expect((await more).n).toBe(2);
  await closing;
});

test('close waits for the very first call', async () => {
  const things = documents();
  const inserting = things.insert({ n: 1 });
  const closing = db.close();
  await expect(things.each().next()).rejects.toMatchObject({ code: 'closed' });
  expect((await inserting).n).toBe(1);
  await closing;
});

test('a queued call that is aborted rejects with the reason', async () => {
  const things = documents();
  const abort = new AbortController();
  const found = things.filter({}, { signal: abort.signal });
  const gone = things.count({}, { signal: AbortSignal.abort('gone') });
  abort.abort('enough');
  await expect(found).rejects.toBe('enough');
  await expect(gone).rejects.toBe('gone');
  expect(await things.count()).toBe(0);
});

test('queued calls reject if the code cannot be loaded, and the next call retries', async () => {
  vi.doMock(CALLS, () => {
    throw new Error('offline');
  });
  const things = documents();
  const outcomes = await Promise.allSettled([
    things.insert({ n: 1 }),
    things.each().next(),
    things.ready,
    things.live({}).ready,
  ]);
  for (const outcome of outcomes) {
    const { reason } = outcome as PromiseRejectedResult;
    expect(reason).toBeInstanceOf(lib.CairnError);
    expect(reason).toMatchObject({ code: 'load_failed', cause: expect.any(Error) });
  }
  await db.save();
  vi.doUnmock(CALLS);
  vi.resetModules();
  await import(CALLS);
  expect((await things.insert({ n: 2 })).n).toBe(2);
  expect((await things.live({}).ready).data.map(({ n }) => n)).toEqual([2]);
});

test.each([true, false])(
  'the code of slow_query_ms may fail to load, where that of the engine loads: %s',
  async (loads) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const fail = () => {
      throw new Error('offline');
    };
    vi.doMock(SLOW, fail);
    if (!loads) vi.doMock(ENGINE, fail);
    // Of two imports at once the second may come before a mock is in place.
    await expect(import(SLOW)).rejects.toThrow();
    await db.close();
    db = new lib.Database({ name: `first ${Math.random()}`, storage: 'memory', slow_query_ms: 0 });
    const things = documents();
    const inserted = things.insert({ n: 1 });
    if (loads) expect((await inserted).n).toBe(1);
    else await expect(inserted).rejects.toMatchObject({ code: 'load_failed' });
    await expect.poll(() => warn.mock.calls.flat().join()).toContain('slow_query_ms');
  },
);
