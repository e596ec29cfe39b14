import { describe, expect, test } from 'vitest';
import { fc, runs } from '../setup/properties.ts';
import { faultyDriver, outage } from './faulty-driver.ts';
import { newPart } from './new-part.ts';
import { filler, openRecords, type RecordRig } from './record-rig.ts';

type Model = Map<string, unknown>;

type Change =
  | { readonly insert: readonly string[]; readonly value: unknown }
  | { readonly put: string; readonly value: unknown }
  | { readonly delete: string }
  | { readonly get: string }
  | { readonly list: true };

function insert(rig: RecordRig, model: Model, keys: readonly string[], value: unknown): void {
  const entries = keys.filter((key) => !model.has(key)).map((key) => [key, value] as const);
  rig.records.addAll(newPart(entries, () => rig.records.takeRank()));
  for (const [key] of entries) model.set(key, value);
}

const key = fc.integer({ min: 0, max: 30 }).map((number) => `k${number}`);
/** Some fill a segment by themselves. */
const value = fc.oneof(fc.nat(9), fc.constantFrom(filler(40), filler(110)));
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ insert: fc.uniqueArray(key), value }) },
  { weight: 2, arbitrary: fc.record({ put: key, value }) },
  { weight: 2, arbitrary: fc.record({ delete: key }) },
  fc.record({ get: key }),
  fc.constant({ list: true } as const),
);
const step = fc.oneof(
  { weight: 3, arbitrary: change },
  fc.record({ save: fc.array(change, { maxLength: 4 }), fails: fc.boolean() }),
  fc.constantFrom('clear' as const, 'compact' as const, 'reopen' as const),
);

async function apply(rig: RecordRig, model: Model, step: Change) {
  if ('insert' in step) insert(rig, model, step.insert, step.value);
  else if ('put' in step) {
    rig.put(step.put, step.value);
    model.set(step.put, step.value);
  } else if ('delete' in step) {
    rig.delete(step.delete);
    model.delete(step.delete);
  } else if ('get' in step) {
    expect(await rig.read(step.get)).toEqual(model.get(step.get));
    expect(rig.records.get(step.get)).toBe(rig.records.get(step.get));
  } else expect(rig.records.list().map(({ key }) => key)).toEqual([...model.keys()]);
}

describe.each([true, false])('records as columns, caching %s', (caching) => {
  test('agree with a map through saves, failures, compaction and reloads', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const driver = faultyDriver();
        let rig = await openRecords(driver, { caching });
        const model: Model = new Map();
        for (const step of steps) {
          if (step === 'clear') rig.records.clearCache();
          else if (step === 'compact') {
            await rig.save();
            await rig.compact();
          } else if (step === 'reopen') {
            await rig.save();
            rig = await openRecords(driver, { caching });
          } else if ('save' in step) {
            const fails = step.fails && rig.records.unsaved > 0;
            if (fails) driver.inject({ call: 'write', when: 'after' });
            const saving = rig.save().catch((error: unknown) => expect(error).toBe(outage));
            for (const each of step.save) await apply(rig, model, each);
            await saving;
            driver.heal();
          } else await apply(rig, model, step);
          expect(rig.records.size).toBe(model.size);
        }
        expect(await rig.all()).toEqual([...model]);
        await rig.save();
        expect(rig.records.unsaved).toBe(0);
        expect(await rig.all()).toEqual([...model]);
        expect(await (await openRecords(driver, { caching })).all()).toEqual([...model]);
      }),
      runs(150),
    );
  });

  test('a part that was read is saved like one that was not', async () => {
    const keys = Array.from({ length: 300 }, (_, at) => `k${at}`);
    const stored = [];
    for (const read of [[], ['k0', 'k250'], keys]) {
      const driver = faultyDriver();
      const rig = await openRecords(driver, { caching });
      const stamps = [1, 0, 3, 0] as const;
      const entries = keys.map((key) => [key, filler(1)] as const);
      rig.records.addAll(newPart(entries, () => rig.records.takeRank(), { flags: 2, stamps }));
      for (const key of read) expect(rig.records.get(key)).toMatchObject({ key, flags: 2, stamps });
      await rig.save();
      stored.push(driver.batches);
      const [record] = (await openRecords(driver, { caching })).records.list();
      expect(record).toMatchObject({ key: 'k0', rank: 1, flags: 2, stamps, segment: 1, index: 0 });
    }
    expect(stored[1]).toEqual(stored[0]);
    expect(stored[2]).toEqual(stored[0]);
  });
});

test('a part has segments of its own, and its bodies are dropped with the save', async () => {
  const rig = await openRecords(faultyDriver());
  rig.put('single', 1);
  const part = newPart(
    Array.from({ length: 200 }, (_, at) => [`k${at}`, filler(1)]),
    () => rig.records.takeRank(),
  );
  rig.records.addAll(part);
  await rig.save();
  const { segments = [], indexes = [] } = part.columns ?? {};
  expect([segments[0], segments[94], segments[95], segments[199]]).toEqual([2, 2, 3, 4]);
  expect([indexes[0], indexes[94], indexes[95]]).toEqual([0, 94, 0]);
  expect(part.body(0)).toBeUndefined();
  expect(part.hasMade()).toBe(false);
});

test('a reader keeps the rows that it has, whatever replaces their records', async () => {
  const rig = await openRecords(faultyDriver());
  const part = newPart(
    ['a', 'b', 'c', 'd'].map((key) => [key, 1]),
    () => rig.records.takeRank(),
  );
  rig.records.addAll(part);
  await rig.save();
  const replaced = rig.records.get('a');
  const release = rig.records.pin();
  rig.put('a', 2);
  rig.delete('b');
  expect(part.at(0)).toBe(replaced);
  expect(part.at(1)).toMatchObject({ key: 'b', segment: 1, index: 1 });
  expect(part.at(2)).toBe(rig.records.get('c'));
  release();
  rig.delete('c');
  expect(part.made(2)).toBeUndefined();
  expect(part.at(3)).toBe(rig.records.get('d'));
});
