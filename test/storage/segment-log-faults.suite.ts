import { describe, expect, test } from 'vitest';
import type { StorageDriver } from '../../src/storage/drivers/driver.ts';
import { faultyDriver, outage } from './faulty-driver.ts';
import { filler, openRecords, type RecordRig } from './record-rig.ts';

const bulk = { bulk1: filler(50, 'a'), bulk2: filler(50, 'b') };

async function failToSave(rig: RecordRig): Promise<void> {
  await expect(rig.save()).rejects.toBe(outage);
}

/** Saves that fail, over a driver. @param newDriver A driver with empty databases. */
export function segmentLogFaults(newDriver: () => StorageDriver): void {
  describe.each([true, false])('a failed save, caching %s', (caching) => {
    test('stores nothing, keeps its changes, and succeeds when retried', async () => {
      const driver = faultyDriver(newDriver());
      const rig = await openRecords(driver, { caching });
      await rig.saveEach({ a: 1, b: 2 });
      rig.put('a', 'new');
      rig.delete('b');
      rig.put('c', 3);
      driver.inject({ call: 'write', when: 'before', times: 2 });
      await failToSave(rig);
      rig.put('d', 4);
      await failToSave(rig);
      expect(rig.records.unsaved).toBe(4);
      expect(await (await openRecords(driver, { caching })).all()).toEqual([
        ['a', 1],
        ['b', 2],
      ]);
      const expected = [
        ['a', 'new'],
        ['c', 3],
        ['d', 4],
      ];
      expect(await rig.all()).toEqual(expected);
      expect(await rig.save()).toBe(4);
      expect(rig.records.unsaved).toBe(0);
      expect(await (await openRecords(driver, { caching })).all()).toEqual(expected);
    });

    test('that was the first one creates the collection when retried', async () => {
      const driver = faultyDriver(newDriver());
      const rig = await openRecords(driver, { caching });
      rig.put('a', 1);
      driver.inject({ call: 'write', when: 'before' });
      await failToSave(rig);
      await rig.save();
      expect(await (await openRecords(driver, { caching })).all()).toEqual([['a', 1]]);
    });

    test('does not undo changes made meanwhile', async () => {
      const driver = faultyDriver(newDriver());
      const rig = await openRecords(driver, { caching });
      await rig.saveEach({ updated: 1, deleted: 1, again: 1 });
      for (const key of ['updated', 'deleted', 'again']) rig.put(key, 2);
      rig.put('short-lived', 2);
      driver.inject({ call: 'write', when: 'before' });
      const saving = failToSave(rig);
      rig.put('updated', 3);
      rig.delete('deleted');
      rig.delete('short-lived');
      rig.delete('again');
      rig.put('again', 3);
      await saving;
      const expected = [
        ['updated', 3],
        ['again', 3],
      ];
      expect(await rig.all()).toEqual(expected);
      await rig.save();
      expect(await (await openRecords(driver, { caching })).all()).toEqual(expected);
    });
  });

  describe.each([true, false])('a save stored but reported as failed, caching %s', (caching) => {
    test('is undone, where it notes replication, by the next', async () => {
      const driver = faultyDriver(newDriver());
      const rig = await openRecords(driver, { caching });
      await rig.saveEach({ a: 1 });
      driver.inject({ call: 'write', when: 'after' });
      await expect(rig.log.recordReplication(1)).rejects.toBe(outage);
      expect(rig.log.replicated).toBe(0);
      await rig.saveEach({ b: 2 });
      expect((await openRecords(driver, { caching })).log.replicated).toBe(0);
    });

    test('is stored once after the retry', async () => {
      const driver = faultyDriver(newDriver());
      const rig = await openRecords(driver, { caching });
      await rig.saveEach({ a: 1 });
      rig.put('a', 2);
      rig.put('b', 2);
      driver.inject({ call: 'write', when: 'after', times: 3 });
      await failToSave(rig);
      await failToSave(rig);
      const crashed = await openRecords(driver, { caching });
      expect(await crashed.all()).toEqual([
        ['a', 2],
        ['b', 2],
      ]);
      await failToSave(rig);
      await rig.save();
      const reopened = await openRecords(driver, { caching });
      expect(await reopened.all()).toEqual(await rig.all());
      expect(reopened.log.segments.size).toBe(2);
    });

    test('does not bring back a record deleted before the retry', async () => {
      const driver = faultyDriver(newDriver());
      const rig = await openRecords(driver, { caching });
      await rig.saveEach({ stays: 1 });
      rig.put('gone', 1);
      driver.inject({ call: 'write', when: 'after' });
      await failToSave(rig);
      rig.delete('gone');
      expect(rig.records.unsaved).toBe(1);
      await rig.save();
      expect(await (await openRecords(driver, { caching })).all()).toEqual([['stays', 1]]);
    });

    test('does not bring back a record changed, then deleted before the retry', async () => {
      const driver = faultyDriver(newDriver());
      const rig = await openRecords(driver, { caching });
      rig.put('gone', 1);
      driver.inject({ call: 'write', when: 'after' });
      await failToSave(rig);
      rig.put('gone', 2);
      rig.delete('gone');
      await rig.save();
      expect(await (await openRecords(driver, { caching })).all()).toEqual([]);
    });

    test('keeps segment statistics right for a saved key deleted, inserted and deleted again', async () => {
      const driver = faultyDriver(newDriver());
      const rig = await openRecords(driver, { caching });
      await rig.saveEach({ key: 'saved', ...bulk });
      rig.delete('key');
      rig.put('key', 'doubtful');
      driver.inject({ call: 'write', when: 'after' });
      await failToSave(rig);
      rig.delete('key');
      await rig.save();
      const live = [...rig.log.segments.values()].filter((segment) => segment.live > 0);
      expect(live).toHaveLength(2);
      await rig.compact();
      expect((await (await openRecords(driver, { caching })).all()).map(([key]) => key)).toEqual([
        'bulk1',
        'bulk2',
      ]);
    });
  });

  describe.each([true, false])('a failed compaction, caching %s', (caching) => {
    test('changes nothing, and succeeds when retried', async () => {
      const driver = faultyDriver(newDriver());
      const rig = await openRecords(driver, { caching });
      await rig.saveEach({ a: 1, ...bulk });
      const before = await rig.all();
      driver.inject({ call: 'write', when: 'before' });
      await expect(rig.tidy()).rejects.toBe(outage);
      expect(await rig.all()).toEqual(before);
      await rig.saveEach({ a: 2 });
      expect(await rig.compact()).toBe(1);
      expect(await (await openRecords(driver, { caching })).all()).toEqual(await rig.all());
      expect(await rig.read('a')).toBe(2);
    });

    test('that was stored nevertheless loses nothing', async () => {
      const driver = faultyDriver(newDriver());
      await (await openRecords(driver, { caching })).saveEach({ a: 1, b: 1, ...bulk });
      const rig = await openRecords(driver, { caching });
      driver.inject({ call: 'write', when: 'after' });
      await expect(rig.tidy()).rejects.toBe(outage);
      rig.records.clearCache();
      // Before the next write: storage has the segments that memory refers to, and lists others.
      expect(await rig.read('a')).toBe(1);
      expect(await rig.all()).toHaveLength(4);
      rig.put('a', 2);
      rig.delete('b');
      await rig.save();
      const expected = await rig.all();
      expect(expected.map(([key]) => key)).toEqual(['a', 'bulk1', 'bulk2']);
      expect(await (await openRecords(driver, { caching })).all()).toEqual(expected);
      rig.records.clearCache();
      expect(await rig.all()).toEqual(expected);
      await rig.saveEach({ c: 1, bulk3: filler(90, 'c') });
      await rig.compact();
      expect(await (await openRecords(driver, { caching })).all()).toEqual(await rig.all());
    });

    test('that was stored nevertheless is in the manifest that replication writes', async () => {
      const driver = faultyDriver(newDriver());
      const rig = await openRecords(driver, { caching });
      await rig.saveEach({ a: 1, ...bulk });
      const before = await rig.all();
      driver.inject({ call: 'write', when: 'after' });
      await expect(rig.tidy()).rejects.toBe(outage);
      await rig.log.recordReplication(1);
      expect(await (await openRecords(driver, { caching })).all()).toEqual(before);
    });

    test('that was stored nevertheless does not break a save that fails, too', async () => {
      const driver = faultyDriver(newDriver());
      const rig = await openRecords(driver, { caching });
      await rig.saveEach({ a: 1, ...bulk });
      driver.inject({ call: 'write', when: 'after' });
      await expect(rig.tidy()).rejects.toBe(outage);
      driver.inject({ call: 'write', when: 'before' });
      rig.put('a', 2);
      await failToSave(rig);
      expect(rig.records.unsaved).toBe(1);
      await rig.save();
      expect(await (await openRecords(driver, { caching })).all()).toEqual(await rig.all());
      expect(await rig.read('a')).toBe(2);
    });
  });
}
