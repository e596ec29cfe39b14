import { expect, test } from 'vitest';
import { difference, type Match, OrderedMatches } from '../../src/engine/live/list-result.ts';
import { StoredRecord } from '../../src/storage/segments/stored-record.ts';
import { fc, runs } from '../setup/properties.ts';

test('a difference applied to the old list gives the new one', () => {
  const items = fc.uniqueArray(fc.nat(30), { maxLength: 20 });
  fc.assert(
    fc.property(items, items, (some, others) => {
      const ordered = (list: readonly number[]) => list.toSorted((a, b) => a - b);
      const before = ordered(some);
      const after = ordered(others);
      const { removed, indexes, inserted } = difference(before, after);
      const list = before.filter((_, index) => !removed.includes(index));
      for (const [index, target] of indexes.entries())
        list.splice(target, 0, inserted[index] as number);
      expect(list).toEqual(after);
      expect(removed.length).toBe(before.filter((item) => !after.includes(item)).length);
      expect(indexes.length).toBe(after.filter((item) => !before.includes(item)).length);
    }),
  );
});

/** A change of a record: a new value to sort by, or its removal. */
const change = fc.record({ key: fc.nat(60), sort: fc.option(fc.nat(12), { nil: undefined }) });

test('the first matches are right, or marked as incomplete', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(0, 1, 3, 10, Number.POSITIVE_INFINITY),
      fc.array(fc.array(change, { maxLength: 90 }), { maxLength: 12 }),
      (bound, batches) => {
        const compare = (a: unknown, b: unknown) => (a as number) - (b as number);
        const matches = new OrderedMatches(bound, compare);
        const all = new Map<string, Match>();
        const inOrder = () =>
          [...all.values()].sort(
            (a, b) => compare(a.sort, b.sort) || a.record.rank - b.record.rank,
          );
        let order = 0;
        for (const batch of batches) {
          const before = new Map(all);
          for (const { key, sort } of batch) {
            const name = `k${key}`;
            all.delete(name);
            if (sort === undefined) continue;
            const record = new StoredRecord(name, ++order, 0, undefined, '{}');
            all.set(name, { record, sort, delivered: undefined });
          }
          const keys = new Set([...before.keys(), ...all.keys()]);
          const changed = [...keys].filter((key) => before.get(key) !== all.get(key));
          const out = changed.flatMap((key) => matches.get(key) ?? []);
          matches.replace(
            out,
            changed.flatMap((key) => all.get(key) ?? []),
          );
          if (matches.short) {
            const found = inOrder();
            matches.reset(found, true);
          }
          expect(matches.list.slice(0, bound)).toEqual(inOrder().slice(0, bound));
          expect(matches.list.length).toBeLessThanOrEqual(2 * bound + 32);
          for (const match of matches.list) expect(matches.get(match.record.key)).toBe(match);
        }
      },
    ),
    runs(300),
  );
});
