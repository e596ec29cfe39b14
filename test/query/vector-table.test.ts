import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { run } from '../../src/async/coroutine.ts';
import { Aborts, Pace } from '../../src/async/pace.ts';
import { NearestSearch } from '../../src/query/vector/nearest-search.ts';
import type { Metric } from '../../src/query/vector/vector-of.ts';

interface Item {
  readonly rank: number;
  readonly version: number;
}

const clock = { now: () => Date.now(), elapsed: () => performance.now() };
const newPace = () => new Pace(clock as ConstructorParameters<typeof Pace>[0], new Aborts());

const paces = { pace: newPace(), background: newPace };

/** By the definition, in doubles. */
function score(metric: Metric, a: Float32Array, b: Float32Array): number {
  const dot = a.reduce((sum, value, at) => sum + value * (b[at] as number), 0);
  if (metric === 'dot') return dot;
  if (metric === 'euclidean')
    return (
      1 / (1 + Math.sqrt(a.reduce((sum, value, at) => sum + (value - (b[at] as number)) ** 2, 0)))
    );
  return dot / (Math.hypot(...a) * Math.hypot(...b));
}

/** Small integers: sums are exact, and equal scores are many. */
const vector = (dimensions: number) =>
  fc
    .array(fc.integer({ min: -3, max: 3 }), { minLength: dimensions, maxLength: dimensions })
    .filter((list) => list.some((value) => value !== 0))
    .map((list) => Float32Array.from(list));

const cases = fc.integer({ min: 1, max: 9 }).chain((dimensions) =>
  fc.record({
    metric: fc.constantFrom<Metric>('cosine', 'dot', 'euclidean'),
    query: vector(dimensions),
    most: fc.integer({ min: 1, max: 12 }),
    loaded: fc.array(fc.option(vector(dimensions), { nil: undefined }), { maxLength: 20 }),
    changes: fc.array(
      fc.record({
        rank: fc.integer({ min: 0, max: 30 }),
        vector: fc.option(vector(dimensions), { freq: 4 }),
      }),
      { maxLength: 80 },
    ),
  }),
);

describe('the nearest vectors', () => {
  it('are those of a brute force, of equal ones the oldest, after any changes', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async ({ metric, query, most, loaded, changes }) => {
        const search = new NearestSearch<Item>(metric, query.length);
        const model = new Map<number, { item: Item; vector: Float32Array }>();
        const entries = loaded.map((_, rank) => ({ rank, version: -1 }));
        search.table.load(entries, loaded);
        search.table.settle();
        for (const [rank, vector] of loaded.entries())
          if (vector) model.set(rank, { item: entries[rank] as Item, vector });
        for (const [version, { rank, vector }] of changes.entries()) {
          const item = { rank, version };
          if (vector) {
            search.table.set(item, vector);
            model.set(rank, { item, vector });
          } else {
            search.table.delete(rank);
            model.delete(rank);
          }
        }
        const expected = [...model.values()]
          .map(({ item, vector }) => ({ item, score: score(metric, vector, query) }))
          .sort((a, b) =>
            Math.abs(a.score - b.score) < 1e-9 ? a.item.rank - b.item.rank : b.score - a.score,
          )
          .slice(0, most);
        const found = await run(search.nearest(query, most, { ...paces, exact: true }));
        expect(found.nearest.map(({ score }) => score.toFixed(9))).toEqual(
          expected.map(({ score }) => score.toFixed(9)),
        );
        if (metric !== 'cosine')
          expect(found.nearest.map(({ item }) => item)).toEqual(expected.map(({ item }) => item));
      }),
    );
  });

  it('are found in few cells, with the recall that is said', async () => {
    const random = numbers(5);
    const topics = Array.from({ length: 40 }, () =>
      Array.from({ length: 16 }, () => random() - 0.5),
    );
    const make = () => {
      const topic = topics[Math.floor(random() * topics.length)] as number[];
      return Float32Array.from(topic, (value) => value + (random() - 0.5) * 0.5);
    };
    for (const metric of ['cosine', 'dot', 'euclidean'] as const) {
      const search = new NearestSearch<Item>(metric, 16);
      for (let rank = 0; rank < 4000; rank++) search.table.set({ rank, version: 0 }, make());
      const ask = (query: Float32Array, exact: boolean) =>
        run(search.nearest(query, 10, { ...paces, exact }));
      expect((await ask(make(), false)).cells).toBeUndefined();
      await search.trained;
      let hits = 0;
      let examined = 0;
      for (let round = 0; round < 50; round++) {
        const query = make();
        const exact = new Set((await ask(query, true)).nearest.map(({ item }) => item));
        const found = await ask(query, false);
        expect(found.cells?.recall).toBeGreaterThanOrEqual(0.95);
        hits += found.nearest.filter(({ item }) => exact.has(item)).length;
        examined += found.examined;
      }
      expect(hits / 500).toBeGreaterThan(0.85);
      expect(examined / 50).toBeLessThan(2000);
    }
  });

  it('has vectors that came, changed and went since the cells were trained', async () => {
    const random = numbers(9);
    const make = () => Float32Array.from({ length: 8 }, () => random() - 0.5);
    const search = new NearestSearch<Item>('euclidean', 8);
    for (let rank = 0; rank < 2000; rank++) search.table.set({ rank, version: 0 }, make());
    const ask = (query: Float32Array) => run(search.nearest(query, 1, { ...paces, exact: false }));
    await ask(make());
    await search.trained;
    const vectors = Array.from({ length: 1500 }, make);
    for (const [at, vector] of vectors.entries()) {
      search.table.set({ rank: 1000 + at, version: 1 }, vector);
      if (at > 0) search.table.delete(at - 1);
      const { nearest } = await ask(vector);
      expect(nearest).toEqual([{ item: { rank: 1000 + at, version: 1 }, score: 1 }]);
    }
    await search.trained;
    for (const { rank } of search.table.entries.filter((entry) => entry !== undefined))
      search.table.delete(rank);
    expect((await ask(make())).nearest).toEqual([]);
  });
});

function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}
