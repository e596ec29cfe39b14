import { beforeEach, describe, expect, test } from 'vitest';
import { outage } from '../storage/faulty-driver.ts';
import { settled } from './fake-clock.ts';
import { createBackup, type LinkedRig, openLinked } from './linked-collections.ts';

let rig: LinkedRig;
let db: LinkedRig['db'];
let a: LinkedRig['a'];
let b: LinkedRig['b'];

beforeEach(async () => {
  rig = await openLinked();
  ({ db, a, b } = rig);
});

describe('a joint save that fails', () => {
  test.each(['before', 'after'] as const)(
    '%s it took effect is retried jointly and loses nothing',
    async (when) => {
      db.change('t', a, b);
      rig.driver.inject({ call: 'write', when });
      await expect(a.flush()).rejects.toBe(outage);
      expect(db.collections.backlog.unsaved).toBe(2);
      db.change('u', b, a);
      await db.advance(499);
      expect(rig.driver.calls.write).toBe(1);
      await db.advance(1);
      expect(rig.driver.calls.write).toBe(2);
      expect(rig.saves().at(-1)).toBe('a+b');
      expect(await rig.afterCrash('a', 'b')).toEqual({ a: ['t', 'u'], b: ['t', 'u'] });
    },
  );

  test('is linked with what changed meanwhile', async () => {
    const c = await db.open('c');
    db.change('t', a, b);
    rig.driver.inject({ call: 'write', when: 'before' });
    const failing = a.flush();
    db.change('u', b, c);
    await expect(failing).rejects.toBe(outage);
    await c.flush();
    expect(rig.saves()).toEqual(['a+b+c']);
  });

  test('rejects all that waited for it, and is not tried again for each', async () => {
    db.changeAlone('before', b);
    const release = rig.hang();
    const earlier = b.flush();
    await settled();
    db.change('t', a, b);
    rig.driver.inject({ call: 'write', when: 'before' });
    const asked = Promise.allSettled([a.saves.flush(), b.saves.flush(), a.flush()]);
    release();
    await earlier;
    const reasons = (await asked).map((one) => one.status === 'rejected' && one.reason);
    expect(reasons).toEqual([outage, outage, outage]);
    expect(rig.driver.calls.write).toBe(2);
  });

  test('and may be stored is undone as a whole by the next write of any of its collections', async () => {
    await createBackup(a);
    const [{ name }] = (await a.execute({ op: 'listBackups', handle: 1 })) as [{ name: string }];
    db.change('t', a, b);
    rig.driver.inject({ call: 'write', when: 'after' });
    await expect(b.flush()).rejects.toBe(outage);
    await a.execute({ op: 'deleteBackup', handle: 1, name });
    expect(db.collections.backlog.unsaved).toBe(2);
    expect(await rig.afterCrash('a', 'b')).toEqual({ a: [], b: [] });
  });

  test('is undone once: what is stored under the same keys later stays', async () => {
    db.change('t', a, b);
    rig.driver.inject({ call: 'write', when: 'after' });
    await expect(createBackup(a)).rejects.toBe(outage);
    rig.driver.inject({ call: 'write', when: 'before' });
    await a.execute({ op: 'drop', handle: 1, backup: false });
    a = await db.open('a');
    db.changeAlone('new', a);
    await createBackup(a);
    db.changeAlone('u', b);
    await b.flush();
    expect(await a.execute({ op: 'listBackups', handle: 1 })).toHaveLength(1);
    expect(await rig.afterCrash('a', 'b')).toEqual({ a: ['new'], b: ['t', 'u'] });
  });

  test('fails the backup that came with it, and no other', async () => {
    db.change('t', a, b);
    rig.driver.inject({ call: 'write', when: 'before' });
    const [one, two] = await Promise.allSettled([createBackup(a), createBackup(b)]);
    expect(one).toMatchObject({ status: 'rejected', reason: outage });
    expect(two.status).toBe('fulfilled');
    expect(rig.saves()).toEqual(['a+b']);
    expect(await a.execute({ op: 'listBackups', handle: 1 })).toEqual([]);
  });
});

describe('a linked collection that ends', () => {
  test('by a drop is saved with the others first', async () => {
    db.change('t', a, b);
    await a.execute({ op: 'drop', handle: 1, backup: false });
    expect(rig.saves()).toEqual(['a+b']);
    expect(b.records.unsaved).toBe(0);
  });

  test('by a drop while saves fail holds nothing up', async () => {
    db.change('t', a, b);
    rig.driver.inject({ call: 'write', when: 'before' });
    await a.execute({ op: 'drop', handle: 1, backup: false });
    await db.advance(500);
    expect(rig.saves()).toEqual(['b']);
    expect(await rig.afterCrash('a', 'b')).toEqual({ a: [], b: ['t'] });
  });

  test('by a drop that fails stays linked', async () => {
    db.changeAlone('before', a);
    await a.flush();
    db.change('t', a, b);
    rig.driver.inject({ call: 'write', when: 'before', times: 2 });
    const drop = a.execute({ op: 'drop', handle: 1, backup: false });
    await expect(drop).rejects.toBe(outage);
    await b.flush();
    expect(rig.saves()).toEqual(['a', 'a+b']);
  });

  test('by a stop is still saved with the others: half of a transaction must not be', async () => {
    db.change('t', a, b);
    await a.lifecycle.stop();
    await b.flush();
    expect(rig.saves()).toEqual(['a+b']);
  });

  test('by a stop of all, while saves wait for an earlier one, is saved with the others', async () => {
    db.changeAlone('before', a);
    const release = rig.hang();
    const earlier = a.flush();
    await settled();
    db.change('t', a, b);
    const asked = db.collections.save();
    const stopped = db.collections.stop();
    // No event: a stop that polls in a loop of promises would let none happen.
    for (let turn = 0; turn < 100; turn++) await undefined;
    release();
    await Promise.all([earlier, asked, stopped]);
    expect(rig.saves()).toEqual(['a', 'a+b']);
  });

  test('is waited for while its joint save waits', async () => {
    db.changeAlone('before', b);
    const release = rig.hang();
    const earlier = b.flush();
    await settled();
    db.change('t', a, b);
    const asked = a.flush();
    const stopped = a.lifecycle.stop();
    await settled();
    release();
    await Promise.all([earlier, asked, stopped]);
    expect(rig.saves()).toEqual(['b', 'a+b']);
  });
});
