import { describe, expect, test } from 'vitest';
import type { DoorFixture } from './door-fixture.ts';

/** db.storage: what the browser lets the database keep. */
export function storageSuite(door: DoorFixture): void {
  describe('db.storage', () => {
    test('estimates what each collection takes, and what its backups alone hold', async () => {
      await door.renew();
      const things = door.documents();
      const text = 'x'.repeat(1000);
      await things.insertMany(Array.from({ length: 300 }, (_, n) => ({ _id: `d${n}`, text })));
      await door.keyValues().set('a', 1);
      await things.createBackup();
      await door.db.save();
      const before = await door.db.storage.estimate();
      for (const figure of [before.usage, before.quota])
        expect(figure === 'unsupported' || figure >= 0).toBe(true);
      const sizes = (collection: string, { collections } = before) =>
        collections.find((one) => one.collection === collection);
      expect(sizes(things.name)?.backup_bytes).toBe(0);
      const bytes = sizes(things.name)?.bytes ?? 0;
      expect(bytes > 300_000 && bytes < 400_000).toBe(true);
      expect((sizes(door.nameOf('values'))?.bytes ?? 0) < 100).toBe(true);
      await things.deleteMany({});
      await things.insert({ text });
      await things.save();
      await door.reopen();
      const after = await door.db.storage.estimate();
      const { backup_bytes = 0 } = sizes(things.name, after) ?? {};
      expect(backup_bytes + (sizes(things.name, after)?.bytes ?? 0) > bytes).toBe(true);
    });

    test('estimates while segments are being merged', async () => {
      const things = door.documents();
      const estimates: Promise<unknown>[] = [];
      for (let round = 0; round < 60; round++) {
        await things.insert({ round, text: 'x'.repeat(10_000) });
        await things.save();
        estimates.push(door.db.storage.estimate());
      }
      const outcomes = await Promise.allSettled(estimates);
      expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
    });

    test('says how long data is kept', async () => {
      const status = await door.db.storage.status;
      const ofMemory = door.kind.storage === 'memory';
      const possible = ofMemory ? ['memory'] : ['persistent', 'best_effort', 'unsupported'];
      expect(possible.includes(status)).toBe(true);
      // Firefox asks the user, and waits for an answer that no test gives.
      const asks = new Promise<'asks'>((resolve) => setTimeout(() => resolve('asks'), 500));
      const answer = await Promise.race([door.db.storage.persist(), asks]);
      expect([true, false, 'unsupported', 'asks'].includes(answer)).toBe(true);
    });

    test('a listener to the quota keeps nothing from working', async () => {
      const stop = door.db.on('quota', () => undefined);
      const things = door.documents();
      await things.insert({});
      await things.save();
      stop();
      expect(await things.count()).toBe(1);
    });
  });
}
