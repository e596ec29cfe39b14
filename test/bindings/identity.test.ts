import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { keyOf } from '../../src/bindings/core/query-of.ts';
import { pagesSource, querySource } from '../../src/bindings/core/sources.ts';
import { settled } from '../../src/bindings/core/subscribed.ts';
import { loadSubscribedCode } from '../../src/bindings/core/subscribed-code.ts';

// Identity is of sources that run.
beforeAll(loadSubscribedCode);

describe('values that are one', () => {
  const equal: [string, () => unknown][] = [
    ['fields', () => ({ a: 1, b: [true, null, 'x'] })],
    ['dates', () => ({ at: new Date(5) })],
    ['patterns', () => ({ name: /^a/i })],
    ['bigints', () => ({ size: 5n })],
    ['maps and sets', () => [new Map([['a', { b: 1 }]]), new Set([1, undefined])]],
    ['bytes', () => [new Uint8Array([1, 2]), new Float64Array([0.5]).buffer]],
    ['a view into a buffer', () => new DataView(new Uint8Array([1, 2, 3]).buffer, 1)],
    ['numbers that JSON lacks', () => [Number.NaN, Number.POSITIVE_INFINITY]],
  ];
  test.each(equal)('%s', (_, make) => expect(keyOf(make())).toBe(keyOf(make())));

  test('operators in another order', () => {
    expect(keyOf({ a: { $gt: 1, $lt: 2 } })).toBe(keyOf({ a: { $lt: 2, $gt: 1 } }));
  });

  test('functions of one text, if what they close over is named', () => {
    const make = (least: number) => (value: number) => value > least;
    expect(keyOf(make(1))).not.toBe(keyOf(make(1)));
    expect(keyOf([1, make(1)], true)).toBe(keyOf([1, make(1)], true));
    expect(keyOf([1, make(1)], true)).not.toBe(keyOf([2, make(2)], true));
  });
});

test('values that differ have other keys', () => {
  const bytes = new Uint8Array([1, 2, 3]);
  const values: unknown[] = [
    ...[undefined, null, Number.NaN, 0, 1, '1', 1n, true, 'true', '', [], {}, [undefined], [[]]],
    ...[new Date(1), new Date(Number.NaN), /a/, /a/i, '/a/', new Map(), new Set(), new Set([1])],
    ...[
      bytes,
      bytes.buffer,
      new Uint8Array([1]),
      new Int8Array([1]),
      new DataView(bytes.buffer, 1),
    ],
    ...[
      { a: undefined },
      { a: null },
      { a: 1, b: 2 },
      { b: 2, a: 1 },
      { Number: '1' },
      { Date: 1 },
    ],
    ...[() => 1, () => 1, new Blob(['a']), new Blob(['a'])],
  ];
  expect(new Set(values.map((value) => keyOf(value))).size).toBe(values.length);
});

describe('of a query', () => {
  const collection = { type: 'DOCUMENT_BASED' } as never;
  const key = (params: object, options?: object) =>
    querySource('useLiveQuery', collection, params as never, options as never).key;

  test('the order of fields counts in sort and in values, not in criteria and options', () => {
    expect(key({ a: 1, b: 2 }, { limit: 1, skip: 2 })).toBe(
      key({ b: 2, a: 1 }, { skip: 2, limit: 1 }),
    );
    expect(key({}, { sort: { a: 1, b: 1 } })).not.toBe(key({}, { sort: { b: 1, a: 1 } }));
    expect(key({ home: { city: 'Oslo', zip: 1 } })).not.toBe(
      key({ home: { zip: 1, city: 'Oslo' } }),
    );
  });

  test('initial data does not count', () => {
    expect(key({}, { initial: [] })).toBe(key({}));
  });
});

test.each([0, -1, 2.5, Number.NaN, '10' as never])('a page of %s documents throws', (page_size) => {
  const pages = () =>
    pagesSource('useLivePages', { type: 'DOCUMENT_BASED' } as never, {}, { page_size });
  expect(pages).toThrowError(
    expect.objectContaining({ code: 'option_invalid', place: 'page_size' }),
  );
});

describe('a component that suspends and never commits', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  /** A collection that counts the readers of its live queries. */
  function fakeCollection() {
    const counts = { queries: 0, readers: 0 };
    let listener: (snapshot: object) => void = () => undefined;
    const live = () => {
      counts.queries += 1;
      return {
        subscribe: (given: typeof listener) => {
          listener = given;
          counts.readers += 1;
          return () => {
            counts.readers -= 1;
          };
        },
        getSnapshot: () => ({ status: 'pending' }),
      };
    };
    const answer = (data: unknown[]) => listener({ status: 'ready', data, error: undefined });
    return { collection: { type: 'DOCUMENT_BASED', live } as never, counts, answer };
  }

  test('holds its query for a while, then frees it', async () => {
    vi.useFakeTimers();
    const { collection, counts, answer } = fakeCollection();
    const query = () => querySource('useLiveSuspenseQuery', collection, {});
    expect(counts).toEqual({ queries: 0, readers: 0 });
    const done = settled(query());
    // React renders anew when the promise settles: the same query must be there.
    expect(settled(query())).toBe(done);
    answer([]);
    await done;
    expect(query().view()).toMatchObject({ status: 'ready', data: [] });
    expect(counts).toEqual({ queries: 1, readers: 1 });
    vi.runAllTimers();
    expect(counts).toEqual({ queries: 1, readers: 0 });
    expect(query().view()).toMatchObject({ status: 'pending', data: undefined });
  });

  test('a component that commits goes on with it', async () => {
    vi.useFakeTimers();
    const { collection, counts, answer } = fakeCollection();
    const query = () => querySource('useLiveSuspenseQuery', collection, {});
    const done = settled(query());
    answer([]);
    await done;
    const stop = query().subscribe(() => undefined);
    vi.runAllTimers();
    expect(counts).toEqual({ queries: 1, readers: 1 });
    stop();
    vi.runAllTimers();
    expect(counts.readers).toBe(0);
  });
});
