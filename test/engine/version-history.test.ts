import { expect, test } from 'vitest';
import { OpenSnapshots, type ReadSnapshot } from '../../src/engine/records/open-snapshots.ts';
import { StoredRecord } from '../../src/storage/segments/stored-record.ts';
import { fc, runs } from '../setup/properties.ts';

const recordOf = (key: string) => new StoredRecord(key, 1, 0, undefined, '{}');

function open() {
  const snapshots = new OpenSnapshots({});
  const history = snapshots.of({ pin: () => () => undefined, isBeingSaved: () => false });
  return { snapshots, history };
}

test('whatever snapshots begin and end, each finds what was replaced since', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd');
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('note' as const), key }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('take' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('end' as const), which: fc.nat(9) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('trim' as const) }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const { snapshots, history } = open();
      const all: { key: string; before: StoredRecord | undefined }[] = [];
      const newest = new Map<string, StoredRecord>();
      /** The open snapshots, and how many changes came before each. */
      const taken: [ReadSnapshot, number][] = [];
      for (const one of steps) {
        if (one.do === 'take') taken.push([snapshots.take(), all.length]);
        else if (one.do === 'trim') history.trim();
        else if (one.do === 'end') {
          const [ended] = taken.splice(one.which, 1);
          if (ended) snapshots.release(ended[0]);
        } else {
          const record = recordOf(one.key);
          const before = newest.get(one.key);
          history.note(record, before);
          all.push({ key: one.key, before });
          newest.set(one.key, record);
        }
        for (const [{ at }, length] of taken) {
          const since = all.slice(length);
          expect(history.since(at).map(({ before }) => before)).toEqual(
            since.map(({ before }) => before),
          );
          for (const wanted of ['a', 'b', 'c', 'd']) {
            const first = since.find((change) => change.key === wanted);
            const replaced = history.replacedSince(at, wanted);
            expect(replaced && [replaced.before]).toEqual(first && [first.before]);
          }
        }
      }
    }),
    runs(400),
  );
});

test('abandoned snapshots make no change more expensive', () => {
  const { snapshots, history } = open();
  let reads = 0;
  const counted = {
    get key() {
      reads++;
      return `k${reads % 100}`;
    },
  };
  const taken: ReadSnapshot[] = [];
  let slowest = 0;
  for (let change = 0; change < 250_000; change++) {
    if (change % 250 === 0 && taken.length < 400) taken.push(snapshots.take());
    const before = reads;
    history.note(counted, undefined);
    slowest = Math.max(slowest, reads - before);
  }
  expect(slowest).toBeLessThan(3);
  expect(taken.filter((one) => snapshots.isOpen(one))).toEqual([]);
});
