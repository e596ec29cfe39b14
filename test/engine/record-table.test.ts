import { expect, test } from 'vitest';
import { RecordTable } from '../../src/engine/records/record-table.ts';
import { StoredRecord } from '../../src/storage/segments/stored-record.ts';
import { fc, runs } from '../setup/properties.ts';

const record = (key: string, order: number, flags = 0) =>
  new StoredRecord(key, order, flags, undefined, '1');

test('get, list and keys agree with a model while records are entered', () => {
  const key = fc.integer({ min: 0, max: 60 }).map((number) => `k${number}`);
  const flags = fc.constantFrom(0, 0, 1, 2);
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ get: key }) },
    fc.record({ set: key, flags }),
    fc.record({ delete: key }),
    fc.record({ take: fc.uniqueArray(key), flags }),
    fc.record({ append: fc.uniqueArray(key), flags }),
    fc.constantFrom('enter' as const, 'list' as const, 'keys' as const, 'flags' as const),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const table = new RecordTable();
      let model = new Map<string, StoredRecord>();
      let entering = table.entering();
      let order = 0;
      for (const step of steps) {
        if (step === 'enter') entering.next();
        else if (step === 'list') expect(table.list()).toEqual([...model.values()]);
        else if (step === 'keys') expect([...table.keys()]).toEqual([...model.keys()]);
        else if (step === 'flags') {
          const flags = [...model.values()].reduce((all, each) => all | each.flags, 0);
          expect(table.flags & flags).toBe(flags);
        } else if ('get' in step) expect(table.get(step.get)).toBe(model.get(step.get));
        else if ('set' in step) {
          const put = record(step.set, model.get(step.set)?.rank ?? ++order, step.flags);
          table.set(put);
          model.set(step.set, put);
        } else if ('delete' in step) {
          table.delete(step.delete);
          model.delete(step.delete);
        } else if ('append' in step) {
          const added = step.append
            .filter((key) => !model.has(key))
            .map((key) => record(key, ++order, step.flags));
          table.append(added);
          for (const each of added) model.set(each.key, each);
        } else {
          const taken = step.take.map((key) => record(key, ++order, step.flags));
          table.replace(taken);
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
  const table = new RecordTable();
  const records = Array.from({ length: 20_000 }, (_, at) => record(`k${at}`, at + 1));
  table.replace(records);
  const entering = table.entering();
  expect(entering.next().done).toBe(false);
  for (let times = 0; times < 40; times++) {
    expect(table.get('k19999')).toBe(records[19_999]);
    expect(table.get('nobody')).toBeUndefined();
  }
  table.replace(records);
  const later = table.entering();
  later.next();
  table.delete('k15000');
  expect(later.next().done).toBe(true);
  expect(table.get('k15000')).toBeUndefined();
  expect(table.get('k15001')).toBe(records[15_001]);
  expect(table.list()).toHaveLength(19_999);
});
