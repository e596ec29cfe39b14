import { expect, test } from 'vitest';
import { PartList } from '../../src/engine/records/table/part-list.ts';
import { RecordTable } from '../../src/engine/records/table/record-table.ts';
import { RecordPart } from '../../src/storage/segments/record-part.ts';
import { StoredRecord } from '../../src/storage/segments/stored-record.ts';
import { fc, runs } from '../setup/properties.ts';

const record = (key: string, order: number, flags = 0) =>
  new StoredRecord(key, order, flags, undefined, '1');

/** Records as they come: objects, or columns. */
function partOf(records: readonly StoredRecord[], made: boolean): RecordPart {
  if (made) return new RecordPart({ made: [...records] });
  const { length } = records;
  return new RecordPart({
    keys: records.map(({ key }) => key),
    ranks: Float64Array.from(records, ({ rank }) => rank),
    flags: Uint8Array.from(records, ({ flags }) => flags),
    stamps: undefined,
    bodies: records.map(({ body }) => body),
    indexKeys: [],
    remoteVersions: undefined,
    segments: new Float64Array(length),
    indexes: new Uint32Array(length),
    sizes: new Uint32Array(length),
  });
}

test('get, list and keys agree with a model while records are entered', () => {
  const key = fc.integer({ min: 0, max: 60 }).map((number) => `k${number}`);
  const flags = fc.constantFrom(0, 0, 1, 2);
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ get: key }) },
    fc.record({ set: key, flags }),
    fc.record({ delete: key }),
    fc.record({ take: fc.uniqueArray(key), flags, made: fc.boolean() }),
    fc.record({ append: fc.uniqueArray(key), flags, made: fc.boolean() }),
    fc.constantFrom('enter' as const, 'list' as const, 'keys' as const, 'flags' as const),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const table = new RecordTable({ pinned: false });
      let model = new Map<string, StoredRecord>();
      /** What has been handed out: the same object stands for a version each time. */
      let seen = new Map<string, StoredRecord>();
      const expectSame = (found: StoredRecord | undefined, key: string) => {
        expect(found).toEqual(model.get(key));
        if (!found) return;
        expect(seen.get(key) ?? found).toBe(found);
        seen.set(key, found);
      };
      let entering = table.entering();
      let order = 0;
      for (const step of steps) {
        if (step === 'enter') entering.next();
        else if (step === 'list') {
          expect(table.list().map(({ key }) => key)).toEqual([...model.keys()]);
          for (const each of table.list()) expectSame(each, each.key);
        } else if (step === 'keys') expect([...table.keys()]).toEqual([...model.keys()]);
        else if (step === 'flags') {
          const flags = [...model.values()].reduce((all, each) => all | each.flags, 0);
          expect(table.flags & flags).toBe(flags);
        } else if ('get' in step) expectSame(table.get(step.get), step.get);
        else if ('set' in step) {
          const put = record(step.set, model.get(step.set)?.rank ?? ++order, step.flags);
          table.set(put);
          model.set(step.set, put);
          seen.set(step.set, put);
        } else if ('delete' in step) {
          table.delete(step.delete);
          model.delete(step.delete);
          seen.delete(step.delete);
        } else if ('append' in step) {
          const added = step.append
            .filter((key) => !model.has(key))
            .map((key) => record(key, ++order, step.flags));
          table.append(partOf(added, step.made));
          for (const each of added) model.set(each.key, each);
        } else {
          const taken = step.take.map((key) => record(key, ++order, step.flags));
          seen = new Map();
          const half = taken.length >> 1;
          const parts = [taken.slice(0, half), taken.slice(half)];
          table.replace(new PartList(parts.map((part) => partOf(part, step.made))));
          model = new Map(taken.map((each) => [each.key, each]));
          entering = table.entering();
        }
        expect(table.size).toBe(model.size);
      }
    }),
    runs(300),
  );
});

test('records are entered in slices; reads and changes in between are right', () => {
  const table = new RecordTable({ pinned: false });
  const records = Array.from({ length: 20_000 }, (_, at) => record(`k${at}`, at + 1));
  table.replace(new PartList([new RecordPart({ made: records })]));
  const entering = table.entering();
  expect(entering.next().done).toBe(false);
  for (let times = 0; times < 40; times++) {
    expect(table.get('k19999')).toBe(records[19_999]);
    expect(table.get('nobody')).toBeUndefined();
  }
  table.replace(new PartList([new RecordPart({ made: records })]));
  const later = table.entering();
  later.next();
  table.delete('k15000');
  expect(later.next().done).toBe(true);
  expect(table.get('k15000')).toBeUndefined();
  expect(table.get('k15001')).toBe(records[15_001]);
  expect(table.list()).toHaveLength(19_999);
});

test('what most records have left becomes objects, and versions stay the same', () => {
  const table = new RecordTable({ pinned: false });
  const records = Array.from({ length: 20_000 }, (_, at) => record(`k${at}`, at + 1));
  table.append(partOf(records, false));
  const kept = [table.get('k1'), table.get('k19999')];
  for (let at = 0; at < 20_000; at += 2) table.delete(`k${at}`);
  for (let at = 1; at < 5000; at += 2) table.set(record(`k${at}`, at + 1, 4));
  expect(table.parts).toEqual([]);
  expect(table.get('k1')).toMatchObject({ rank: 2, flags: 4 });
  expect(kept[0]).toMatchObject({ rank: 2, flags: 0 });
  expect(table.get('k19999')).toBe(kept[1]);
  expect(table.size).toBe(10_000);
  const ranks = table.list().map(({ rank }) => rank);
  expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
});
