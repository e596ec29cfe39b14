import { describe, expect, test } from 'vitest';
import { hashText } from '../../src/codec/hash-text.ts';
import type { Manifest } from '../../src/storage/log/manifest.ts';
import { dropLog } from '../../src/storage/log/replace-log.ts';
import type { Segment } from '../../src/storage/segments/segment.ts';
import { SEGMENT_SIZE } from '../../src/storage/segments/segment.ts';
import { fc, runs } from '../setup/properties.ts';
import { COLLIDING } from './colliding-keys.ts';
import { faultyDriver } from './faulty-driver.ts';
import { filler, openRecords } from './record-rig.ts';

const events = { damaged: () => undefined };

describe.each([true, false])('a log, caching %s', (caching) => {
  test('that was never saved does not exist', async () => {
    const driver = faultyDriver();
    const rig = await openRecords(driver, { caching });
    rig.put('a', 1);
    expect(rig.log.exists).toBe(false);
    expect(await (await openRecords(driver, { caching })).all()).toEqual([]);
  });

  test('that was saved while empty exists', async () => {
    const driver = faultyDriver();
    await (await openRecords(driver, { caching })).save();
    expect((await openRecords(driver, { caching })).log.exists).toBe(true);
  });

  test('folds to the latest version of each key, in order of insertion', async () => {
    const driver = faultyDriver();
    const rig = await openRecords(driver, { caching });
    await rig.saveEach({ b: 1, a: 2, c: 3 });
    rig.put('a', 'new');
    rig.delete('b');
    await rig.save();
    rig.put('b', 'again');
    await rig.save();
    const expected = [
      ['a', 'new'],
      ['c', 3],
      ['b', 'again'],
    ];
    expect(await rig.all()).toEqual(expected);
    const reopened = await openRecords(driver, { caching });
    expect(await reopened.all()).toEqual(expected);
    reopened.put('d', 4);
    await reopened.save();
    expect(await (await openRecords(driver, { caching })).all()).toEqual([...expected, ['d', 4]]);
  });

  test('keeps a key deleted and inserted again within one save', async () => {
    const driver = faultyDriver();
    const rig = await openRecords(driver, { caching });
    await rig.saveEach({ a: 1, b: 2 });
    rig.delete('a');
    rig.put('a', 'again');
    await rig.save();
    const reopened = await openRecords(driver, { caching });
    expect(await reopened.all()).toEqual([
      ['b', 2],
      ['a', 'again'],
    ]);
  });

  test('writes nothing for a key inserted and deleted between two saves', async () => {
    const driver = faultyDriver();
    const rig = await openRecords(driver, { caching });
    await rig.saveEach({ a: 1 });
    const written = driver.batches.length;
    rig.put('b', 2);
    rig.delete('b');
    expect(rig.records.unsaved).toBe(0);
    expect(await rig.save()).toBe(0);
    expect(driver.batches.length).toBe(written);
  });

  test('splits a large save into segments, stored atomically', async () => {
    const driver = faultyDriver();
    const rig = await openRecords(driver, { caching });
    for (let n = 0; n < 50; n++) rig.put(`k${n}`, filler(10));
    await rig.save();
    expect(driver.batches).toHaveLength(1);
    expect(rig.log.segments.size).toBeGreaterThan(4);
    for (const { size } of rig.log.segments.values())
      expect(size).toBeLessThan(SEGMENT_SIZE + 11 * 1024);
    expect(await (await openRecords(driver, { caching })).all()).toHaveLength(50);
  });

  test('distinguishes keys with the same hash', async () => {
    const driver = faultyDriver();
    const rig = await openRecords(driver, { caching });
    const [first, second] = COLLIDING[0];
    expect(hashText(first)).toBe(hashText(second));
    await rig.saveEach({ [first]: 1, [second]: 2, other: 3 });
    const reopened = await openRecords(driver, { caching });
    expect((await reopened.all()).map(([key]) => key)).toEqual([first, second, 'other']);
    reopened.delete(first);
    reopened.put(second, 4);
    await reopened.save();
    expect(await (await openRecords(driver, { caching })).all()).toEqual([
      [second, 4],
      ['other', 3],
    ]);
  });

  test('folds to the content of a model after random puts, deletes, saves and merges', async () => {
    const key = fc.constantFrom('a', 'b', 'c', ...COLLIDING[0]);
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ put: key, kilobytes: fc.constantFrom(0, 1, 50) }) },
      { weight: 2, arbitrary: fc.record({ delete: key }) },
      { weight: 3, arbitrary: fc.constant('save' as const) },
      { weight: 1, arbitrary: fc.constantFrom('compact' as const, 'reopen' as const) },
    );
    const script = fc.array(step, { maxLength: 40, size: 'max' });
    await fc.assert(
      fc.asyncProperty(script, async (steps) => {
        const driver = faultyDriver();
        let rig = await openRecords(driver, { caching });
        const model = new Map<string, number>();
        for (const [turn, step] of steps.entries()) {
          if (step === 'save') await rig.save();
          else if (step === 'compact') await rig.compact();
          else if (step === 'reopen') {
            await rig.save();
            rig = await openRecords(driver, { caching });
          } else if ('delete' in step) {
            rig.delete(step.delete);
            model.delete(step.delete);
          } else {
            rig.put(step.put, [turn, filler(step.kilobytes)]);
            model.set(step.put, turn);
          }
        }
        await rig.save();
        const reopened = await openRecords(driver, { caching });
        const found = await reopened.all();
        expect(found.map(([key, value]) => [key, (value as [number])[0]])).toEqual([...model]);
        let live = 0;
        for (const record of reopened.records.list()) live += record.size;
        const counted = [...reopened.log.segments.values()];
        expect(counted.reduce((sum, state) => sum + state.live, 0)).toBe(live);
      }),
      runs(150),
    );
  });

  test('keeps deletes that fill more than a segment', async () => {
    const driver = faultyDriver();
    const rig = await openRecords(driver, { caching });
    const keys = Array.from({ length: 300 }, (_, n) => `${n}${'k'.repeat(1000)}`);
    for (const key of keys) rig.put(key, 1);
    rig.put('stays', 1);
    await rig.save();
    for (const key of keys) rig.delete(key);
    await rig.save();
    expect(await (await openRecords(driver, { caching })).all()).toEqual([['stays', 1]]);
  });

  test('reads back values outside JSON', async () => {
    const driver = faultyDriver();
    const rig = await openRecords(driver, { caching });
    const value = { at: new Date(5), big: 2n ** 65n, none: undefined, zero: -0, set: new Set([1]) };
    await rig.saveEach({ a: value });
    expect(await rig.read('a')).toStrictEqual(value);
    expect(await (await openRecords(driver, { caching })).read('a')).toStrictEqual(value);
  });

  test('shares a database with logs of similar names', async () => {
    const driver = faultyDriver();
    const names = ['a', 'a\0', 'aa', 'A', ''];
    for (const name of names) {
      await (await openRecords(driver, { caching, name })).saveEach({ own: name });
    }
    await dropLog((await openRecords(driver, { caching, name: 'a' })).log, []);
    for (const name of names) {
      const all = await (await openRecords(driver, { caching, name })).all();
      expect(all).toEqual(name === 'a' ? [] : [['own', name]]);
    }
  });
});

describe('a damaged or newer log', () => {
  test.each([1, 2, 3])('is data_damaged when segment %i is missing', async (missing) => {
    const driver = faultyDriver();
    const rig = await openRecords(driver);
    await rig.saveEach({ a: 1, b: 2, c: 3, d: 4 });
    const storage = await driver.open('db', events);
    await storage.write([{ type: 'delete', store: 'segments', key: ['log', missing] }], 'relaxed');
    await expect(openRecords(driver)).rejects.toMatchObject({
      name: 'StorageError',
      code: 'data_damaged',
      place: 'log',
      message: expect.stringContaining(`Segment ${missing} `),
    });
  });

  test('is data_damaged when a merged segment is missing', async () => {
    const driver = faultyDriver();
    const rig = await openRecords(driver);
    await rig.saveEach({ a: filler(50), b: filler(50), c: 1 });
    expect(await rig.compact()).toBe(1);
    const storage = await driver.open('db', events);
    const [manifest] = (await storage.getMany('collections', [['log']])) as [Manifest];
    const [number] = manifest.segments as [number];
    await storage.write([{ type: 'delete', store: 'segments', key: ['log', number] }], 'relaxed');
    await expect(openRecords(driver)).rejects.toMatchObject({ code: 'data_damaged' });
  });

  test('is data_damaged when a segment goes missing while it is open', async () => {
    const driver = faultyDriver();
    await (await openRecords(driver)).saveEach({ a: 1, b: 2 });
    const rig = await openRecords(driver);
    const storage = await driver.open('db', events);
    await storage.write([{ type: 'delete', store: 'segments', key: ['log', 1] }], 'relaxed');
    await expect(rig.read('a')).rejects.toMatchObject({ code: 'data_damaged' });
    expect(await rig.read('b')).toBe(2);
  });

  test('is format_newer when a newer version wrote it', async () => {
    const driver = faultyDriver();
    await (await openRecords(driver)).saveEach({ a: 1 });
    const storage = await driver.open('db', events);
    const [manifest] = (await storage.getMany('collections', [['log']])) as [Manifest];
    const value = { ...manifest, format: manifest.format + 1 };
    await storage.write([{ type: 'put', store: 'collections', key: ['log'], value }], 'relaxed');
    await expect(openRecords(driver)).rejects.toMatchObject({
      code: 'format_newer',
      place: 'log',
    });
  });

  test('ignores a segment that a compaction has replaced', async () => {
    const driver = faultyDriver();
    const rig = await openRecords(driver);
    await rig.saveEach({ a: filler(50), b: filler(50), old: 1 });
    const storage = await driver.open('db', events);
    const [stale] = (await storage.getMany('segments', [['log', 3]])) as [Segment];
    await rig.compact();
    rig.delete('old');
    await rig.save();
    await storage.write(
      [{ type: 'put', store: 'segments', key: ['log', 3], value: stale }],
      'strict',
    );
    const reopened = await openRecords(driver);
    expect((await reopened.all()).map(([key]) => key)).toEqual(['a', 'b']);
  });
});
