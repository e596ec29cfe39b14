import { expect, test } from 'vitest';
import { run } from '../../src/async/coroutine.ts';
import { Aborts, Pace } from '../../src/async/pace.ts';
import { NearestSearch } from '../../src/query/vector/nearest-search.ts';

interface Item {
  readonly rank: number;
}

/** Gives way wherever it may. */
function slowPace(): Pace {
  let elapsed = 0;
  const clock = { now: () => 0, elapsed: () => (elapsed += 100) };
  return new Pace(clock as unknown as ConstructorParameters<typeof Pace>[0], new Aborts());
}

const along = (at: number) => Float32Array.of(at, 0);

test('a search whose vectors are replaced while it makes their records has the new ones', async () => {
  const search = new NearestSearch<Item>('euclidean', 2);
  const load = (from: number, count: number) => {
    const ranks = Array.from({ length: count }, (_, at) => from + at);
    search.table.load(
      ranks.map((rank) => ({ rank })),
      ranks.map(along),
    );
  };
  load(0, 600);
  const rules = { pace: slowPace(), background: undefined, exact: true };
  const asked = run(search.nearest(along(0), 5, rules));
  load(1000, 3);
  const { nearest } = await asked;
  expect(nearest.map(({ item }) => item.rank)).toEqual([1000, 1001, 1002]);
});

test('a vector that gets its cell is found once', async () => {
  const search = new NearestSearch<Item>('euclidean', 2);
  const add = (from: number, to: number) => {
    for (let rank = from; rank < to; rank++) search.table.set({ rank }, along(rank));
  };
  const ask = (query: number, background: () => Pace) =>
    run(search.nearest(along(query), 2, { pace: slowPace(), background, exact: false }));
  add(0, 1600);
  await ask(0, slowPace);
  await search.trained;
  add(1600, 1664);
  // Each search stands between two slots that get their cells behind it.
  for (let query = 1600; query < 1664; query += 4) {
    const { nearest } = await ask(query, slowPace);
    expect(new Set(nearest.map(({ item }) => item)).size).toBe(2);
  }
  await search.trained;
});
