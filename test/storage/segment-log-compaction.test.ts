import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/async/clock.ts';
import { run } from '../../src/async/coroutine.ts';
import { Aborts, Pace } from '../../src/async/pace.ts';
import { Scan } from '../../src/engine/records/scan.ts';
import { stage, unstage } from '../../src/storage/log/replace-log.ts';
import { faultyDriver } from './faulty-driver.ts';
import { changedDriver } from './pass-on.ts';
import { filler, openRecords } from './record-rig.ts';

/** Two values large enough to trigger a merge. */
const bulk = { bulk1: filler(50, 'a'), bulk2: filler(50, 'b') };

describe.each([true, false])('compaction, caching %s', (caching) => {
  test('merges small segments and keeps the order of insertion', async () => {
    const driver = faultyDriver();
    const rig = await openRecords(driver, { caching });
    await rig.saveEach({ first: 1, ...bulk, last: 2 });
    rig.put('first', 'changed late');
    await rig.save();
    const before = await rig.all();
    expect(await rig.compact()).toBe(1);
    expect(rig.log.segments.size).toBe(2);
    expect(await rig.all()).toEqual(before);
    expect(before.map(([key]) => key)).toEqual(['first', 'bulk1', 'bulk2', 'last']);
    const reopened = await openRecords(driver, { caching });
    expect(await reopened.all()).toEqual(before);
    reopened.put('after', 3);
    await reopened.save();
    const again = await openRecords(driver, { caching });
    expect((await again.all()).map(([key]) => key)).toEqual([
      ...before.map(([key]) => key),
      'after',
    ]);
  });

  test('reads the segments that were not written lately, and no others', async () => {
    const driver = faultyDriver();
    const first = await openRecords(driver, { caching });
    await first.saveEach({ early: 1, earlier: 2 });
    let reads = 0;
    const counting = changedDriver(driver, (storage) => ({
      getMany(store, keys) {
        if (store === 'segments') reads += keys.length;
        return storage.getMany(store, keys);
      },
    }));
    const rig = await openRecords(counting, { caching });
    await rig.saveEach(bulk);
    const before = await rig.all();
    reads = 0;
    expect(await rig.compact()).toBe(1);
    expect(reads).toBeGreaterThanOrEqual(2);
    expect(reads).toBeLessThanOrEqual(4);
    expect(await rig.all()).toEqual(before);
    reads = 0;
    await rig.saveEach({ bulk3: filler(50, 'c'), bulk4: filler(50, 'd') });
    expect(await rig.compact()).toBe(1);
    expect(reads).toBe(0);
    expect(await (await openRecords(driver, { caching })).all()).toEqual(await rig.all());
  });

  test('forgets where the segments were that it deletes', async () => {
    const driver = faultyDriver();
    const rig = await openRecords(driver, { caching });
    await rig.saveEach({ first: 1, ...bulk });
    const [first = 0] = rig.log.segments.keys();
    expect(await rig.compact()).toBe(1);
    const reads = driver.calls.getMany;
    await expect(rig.log.bodies.load(first)).rejects.toMatchObject({ code: 'data_damaged' });
    expect(driver.calls.getMany).toBe(reads);
  });

  test('removes segments without live records', async () => {
    const driver = faultyDriver();
    const rig = await openRecords(driver, { caching });
    for (let n = 0; n < 40; n++) {
      rig.put('only', n);
      await rig.save();
    }
    await rig.compact();
    expect(rig.log.segments.size).toBeLessThan(20);
    expect(await (await openRecords(driver, { caching })).all()).toEqual([['only', 39]]);
  });

  test('leaves nothing of a log that is emptied, deletes included', async () => {
    const driver = faultyDriver();
    const rig = await openRecords(driver, { caching });
    await rig.saveEach({ ...bulk, small: 1 });
    for (const key of ['bulk1', 'small', 'bulk2']) {
      rig.delete(key);
      await rig.save();
    }
    expect(await rig.compact()).toBe(1);
    expect(rig.log.segments.size).toBe(0);
    expect(await (await openRecords(driver, { caching })).all()).toEqual([]);
  });

  test('removes little where much is live, and a few large ones where it is not', async () => {
    const driver = faultyDriver();
    const rig = await openRecords(driver, { caching });
    await rig.saveEach({ small: 1, once: filler(70), full1: filler(70), full2: filler(70) });
    rig.delete('once');
    await rig.save();
    expect(await rig.compact()).toBe(0);
    rig.delete('full1');
    await rig.save();
    expect(await rig.compact()).toBe(0);
    rig.delete('full2');
    await rig.save();
    const rest = [...rig.log.segments.values()];
    expect(await rig.compact()).toBe(1);
    const left = [...rig.log.segments.values()];
    expect(left.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(1000);
    expect(left.length).toBeLessThan(rest.length);
    expect(await (await openRecords(driver, { caching })).all()).toEqual([['small', 1]]);
  });

  test('keeps a delete that an older segment still needs', async () => {
    const driver = faultyDriver();
    const rig = await openRecords(driver, { caching });
    // A full segment with the key, which is not merged.
    rig.put('doomed', 1);
    for (let n = 0; n < 9; n++) rig.put(`full${n}`, filler(10));
    await rig.save();
    const old = [...rig.log.segments.keys()];
    rig.delete('doomed');
    await rig.save();
    await rig.saveEach(bulk);
    expect(await rig.compact()).toBe(1);
    expect([...rig.log.segments.keys()]).toEqual(expect.arrayContaining(old));
    const reopened = await openRecords(driver, { caching });
    expect(reopened.records.get('doomed')).toBeUndefined();
    expect(reopened.records.size).toBe(11);
  });

  test('drops a delete that no older segment needs', async () => {
    const driver = faultyDriver();
    const rig = await openRecords(driver, { caching });
    await rig.saveEach({ doomed: 1, ...bulk });
    rig.delete('doomed');
    await rig.save();
    expect(await rig.compact()).toBe(1);
    const compacted = driver.batches.findLast((batch) =>
      batch.some(({ type, store }) => type === 'put' && store === 'collections'),
    );
    const puts = (compacted ?? []).filter(
      ({ type, store }) => type === 'put' && store === 'segments',
    );
    expect(puts.length).toBeGreaterThan(0);
    for (const operation of puts) expect(operation).toMatchObject({ value: { deletes: [] } });
    expect((await openRecords(driver, { caching })).records.get('doomed')).toBeUndefined();
  });

  test('does not apply an old delete to a key inserted again', async () => {
    const driver = faultyDriver();
    const rig = await openRecords(driver, { caching });
    rig.put('again', 'old');
    for (let n = 0; n < 9; n++) rig.put(`full${n}`, filler(10));
    await rig.save();
    rig.delete('again');
    await rig.save();
    rig.put('again', 'new');
    await rig.save();
    await rig.saveEach(bulk);
    await rig.compact();
    expect(await (await openRecords(driver, { caching })).read('again')).toBe('new');
  });

  test('moves the saved version of a record with unsaved changes', async () => {
    const driver = faultyDriver();
    const rig = await openRecords(driver, { caching });
    await rig.saveEach({ updated: 'saved', deleted: 'saved', replaced: 'saved', ...bulk });
    rig.put('updated', 'unsaved');
    rig.delete('deleted');
    rig.delete('replaced');
    rig.put('replaced', 'unsaved');
    expect(await rig.compact()).toBe(1);
    const crashed = await openRecords(driver, { caching });
    expect(await crashed.read('updated')).toBe('saved');
    expect(await crashed.read('deleted')).toBe('saved');
    expect(await crashed.read('replaced')).toBe('saved');
    expect(await rig.read('updated')).toBe('unsaved');
    await rig.save();
    const saved = await openRecords(driver, { caching });
    expect(await saved.read('updated')).toBe('unsaved');
    expect(saved.records.get('deleted')).toBeUndefined();
    expect(await saved.read('replaced')).toBe('unsaved');
    expect(saved.records.list().map(({ key }) => key)).toEqual([
      'updated',
      'bulk1',
      'bulk2',
      'replaced',
    ]);
  });

  test('keeps merged segments for scans that began before', async () => {
    const driver = faultyDriver();
    await (await openRecords(driver, { caching })).saveEach({ a: 1, b: 2, ...bulk });
    const rig = await openRecords(driver, { caching });
    rig.records.clearCache();
    const compacting = rig.tidy();
    // The scan begins during the compaction, with the old segments, and goes on after it.
    const scan = new Scan(rig.records, new Pace(systemClock, new Aborts()));
    const [first] = await run(scan.next(() => true, { limit: 1 }));
    expect(await compacting).toBe(true);
    const rest = await run(scan.next(() => true));
    expect([first, ...rest].map((visited) => visited?.record.key)).toEqual([
      'a',
      'b',
      'bulk1',
      'bulk2',
    ]);
    scan.end();
    expect(await rig.read('a')).toBe(1);
    rig.records.clearCache();
    expect(await rig.all()).toHaveLength(4);
  });

  test('keeps merged segments while an import is given up', async () => {
    const driver = faultyDriver();
    const storage = await driver.open('db', { damaged: () => undefined });
    const stored = async () =>
      new Set((await storage.keys('segments', ['log'])).map(([, number]) => number));
    const rig = await openRecords(driver, { caching });
    await rig.saveEach({ a: 1, ...bulk });
    const merged = [...rig.log.segments.keys()];
    expect(await rig.tidy()).toBe(true);
    const live = [...rig.log.segments.keys()];
    const staged = { records: [], bodies: [], deletes: ['staged'], size: 6, blobBytes: 0 };
    const numbers: number[] = [];
    await stage(rig.log, [staged], numbers);
    expect((await stored()).size).toBe(merged.length + live.length + 1);
    await unstage(rig.log, numbers);
    expect(await stored()).toEqual(new Set([...merged, ...live]));
    await rig.compact();
    expect(await stored()).toEqual(new Set(live));
  });

  test('goes on despite one large record', async () => {
    const driver = faultyDriver();
    const rig = await openRecords(driver, { caching });
    rig.put('small', 0);
    rig.put('large', filler(4000));
    await rig.save();
    for (let n = 1; n <= 200; n++) {
      rig.put('small', n);
      await rig.save();
      await rig.compact();
    }
    expect(rig.log.segments.size).toBeLessThan(20);
    const written = driver.batches
      .flat()
      .filter((operation) => operation.type === 'put' && operation.store === 'segments')
      .reduce((sum, operation) => sum + (operation as { value: { size: number } }).value.size, 0);
    expect(written).toBeLessThan(3 * (4000 * 1024 + 200 * 20));
    expect(await rig.read('small')).toBe(200);
  });

  test('of a queue leaves no trail of deletes after an old record', async () => {
    const driver = faultyDriver();
    const rig = await openRecords(driver, { caching });
    rig.put('stays', filler(100));
    await rig.save();
    for (let n = 0; n < 3000; n++) {
      rig.put(`${n}${'k'.repeat(250)}`, filler(1));
      if (n >= 50) rig.delete(`${n - 50}${'k'.repeat(250)}`);
      if (n % 5 !== 0) continue;
      await rig.save();
      await rig.compact();
    }
    const size = [...rig.log.segments.values()].reduce((sum, segment) => sum + segment.size, 0);
    // 50 records of 1.3 KB and one of 100 KB remain; 3,000 deletes of 250 characters do not.
    expect(size).toBeLessThan(500 * 1024);
    const reopened = await openRecords(driver, { caching });
    expect(reopened.records.size).toBe(rig.records.size);
  });
});
