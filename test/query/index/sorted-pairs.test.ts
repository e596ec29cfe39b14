import { describe, expect, test } from 'vitest';
import type { EntrySlice, Ranked } from '../../../src/query/index/leaf-list.ts';
import { SortedPairs } from '../../../src/query/index/sorted-pairs.ts';
import { compareScalars } from '../../../src/query/value/compare-values.ts';
import { fc, runs } from '../../setup/properties.ts';
import { Random } from '../../setup/random.ts';

type Pair = readonly [key: number, rank: number];

/** The bound before a key. */
const behind = (key: number) => (other: number) => other >= key;

/** The model: an array, sorted on every read. */
class Rig {
  readonly pairs = new SortedPairs<number, Ranked>(compareScalars, { multi: false });
  readonly model = new Map<number, number>();
  #lastOrder = 0;

  load(keys: readonly number[]): void {
    const entries = keys.map((key) => this.#enter(key)).reverse();
    this.pairs.load(keys.toReversed(), entries);
  }

  add(key: number): void {
    this.pairs.add(key, this.#enter(key));
  }

  #enter(key: number): Ranked {
    const rank = ++this.#lastOrder;
    this.model.set(rank, key);
    return { rank };
  }

  remove(rank: number): void {
    const key = this.model.get(rank);
    if (key === undefined) return;
    this.model.delete(rank);
    this.pairs.remove(key, rank);
  }

  between(from: number, to: number): Pair[] {
    return [...this.model]
      .map(([rank, key]): Pair => [key, rank])
      .filter(([key]) => key >= from && key < to)
      .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  }

  check(from: number, to: number): void {
    const low = behind(from);
    const high = behind(to);
    const expected = this.between(from, to);
    expect(ordersOf(this.pairs.ascending(low, high))).toEqual(expected.map(([, rank]) => rank));
    const descending = expected.toSorted((a, b) => b[0] - a[0] || a[1] - b[1]);
    expect(ordersOf(this.pairs.descending(low, high))).toEqual(descending.map(([, rank]) => rank));
  }
}

function ordersOf(runs: Iterable<EntrySlice<Ranked>>): number[] {
  return [...runs].flatMap(({ entries, from, to }) =>
    entries.slice(from, to).map(({ rank }) => rank),
  );
}

/**
 * With few distinct keys a key has more entries than a leaf; with many, leaves have distinct keys.
 */
const keysBelow = fc.constantFrom(1, 3, 40, 100_000);

function keys(count: number, below: number, seed: number): number[] {
  const random = new Random(seed);
  return Array.from({ length: count }, () => random.below(below));
}

describe('pairs stay in rank', () => {
  test('over many blocks, loaded, added, removed, and sorted in the background', () => {
    fc.assert(
      fc.property(
        fc.record({
          loaded: fc.constantFrom(0, 1, 700, 3000, 9000),
          added: fc.constantFrom(0, 5, 2000),
          below: keysBelow,
          seed: fc.integer({ min: 1, max: 1_000_000 }),
          early: fc.boolean(),
          slices: fc.nat(5),
        }),
        ({ loaded, added, below, seed, early, slices }) => {
          const rig = new Rig();
          rig.load(keys(loaded, below, seed));
          if (early) rig.check(below / 3, below / 2);
          const sorting = rig.pairs.sorting();
          for (let slice = 0; slice < slices; slice++) sorting.next();
          for (const key of keys(added, below, seed + 1)) rig.add(key);
          for (const rank of keys(added / 2, loaded + added + 1, seed + 2)) rig.remove(rank);
          rig.check(below / 3, below / 2);
          rig.check(0, below);
          while (!sorting.next().done) rig.check(0, 1);
          rig.check(0, below);
        },
      ),
      runs(60),
    );
  });

  test('down to empty and up again', () => {
    const rig = new Rig();
    rig.load(keys(3000, 50, 1));
    for (const rank of [...rig.model.keys()]) rig.remove(rank);
    rig.check(0, 50);
    for (const key of keys(600, 50, 2)) rig.add(key);
    rig.check(0, 50);
  });

  test('for increasing keys', () => {
    const rig = new Rig();
    for (let key = 0; key < 3000; key++) rig.add(key);
    rig.check(0, 3000);
    for (let rank = 1; rank <= 3000; rank += 3) rig.remove(rank);
    rig.check(0, 3000);
  });
});

test('the first lookups of a key scan the loaded pairs, later ones find them sorted', () => {
  const rig = new Rig();
  rig.load(keys(5000, 100, 3));
  rig.add(7);
  rig.add(8);
  const low = behind(7);
  const high = behind(8);
  const expected = rig.between(7, 8).map(([, rank]) => rank);
  let passes = 0;
  for (let found = rig.pairs.matching(7); found; found = rig.pairs.matching(7)) {
    expect(found.map(({ rank }) => rank)).toEqual(expected);
    passes++;
  }
  expect(passes).toBeGreaterThan(1);
  expect(ordersOf(rig.pairs.ascending(low, high))).toEqual(expected);
});

test('an estimate is approximate before sorting and exact after it', () => {
  const rig = new Rig();
  rig.load(keys(20_000, 1000, 4));
  const low = behind(100);
  const high = behind(300);
  const real = rig.between(100, 300).length;
  expect(rig.pairs.estimate(low, high)).toBeGreaterThan(real / 3);
  expect(rig.pairs.estimate(low, high)).toBeLessThan(real * 3);
  const sorting = rig.pairs.sorting();
  while (!sorting.next().done);
  expect(rig.pairs.estimate(low, high)).toBe(real);
});

test('batches visit each pair once that is there from first to last, whatever else comes and goes', () => {
  fc.assert(
    fc.property(
      fc.record({
        loaded: fc.constantFrom(1, 700, 3000, 9000),
        changed: fc.constantFrom(0, 5, 400),
        below: keysBelow,
        seed: fc.integer({ min: 1, max: 1_000_000 }),
      }),
      ({ loaded, changed, below, seed }) => {
        const rig = new Rig();
        rig.load(keys(loaded, below, seed));
        const staying = new Map(rig.model);
        const visited: Pair[] = [];
        let turn = 0;
        for (const batch of rig.pairs.batches()) {
          batch.keys.forEach((key, at) => {
            visited.push([key, batch.entries[at]?.rank as number]);
          });
          turn++;
          if (turn > 8) continue;
          for (const key of keys(changed, below, seed + turn)) rig.add(key);
          for (const rank of keys(changed, loaded + 1, seed - turn)) {
            rig.remove(rank);
            staying.delete(rank);
          }
        }
        const expected = rig.between(0, below).filter(([, rank]) => staying.has(rank));
        expect(visited.filter(([, rank]) => staying.has(rank))).toEqual(expected);
        expect(new Set(visited.map(([, rank]) => rank)).size).toBe(visited.length);
      },
    ),
    runs(60),
  );
});
