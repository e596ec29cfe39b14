import { describe, expect, onTestFinished, test } from 'vitest';
import type { ClientFixture, ClientKind } from './client-fixture.ts';
import { EventLog } from './outcomes.ts';

/** Replaces `navigator.storage` until the test ends; Node has none. */
function replaceStorageManager(manager: Partial<StorageManager> | undefined): void {
  const [owner, key, value]: [object, string, unknown] =
    typeof navigator === 'undefined'
      ? [globalThis, 'navigator', { storage: manager }]
      : [navigator, 'storage', manager];
  const before = Object.getOwnPropertyDescriptor(owner, key);
  Object.defineProperty(owner, key, { configurable: true, value });
  onTestFinished(() => {
    if (before) Object.defineProperty(owner, key, before);
    else Reflect.deleteProperty(owner, key);
  });
}

/** Saves until estimate() is called: its caller is loaded with the first listener. */
async function saveUntilEstimated(fixture: ClientFixture, estimate: StorageManager['estimate']) {
  let asked = false;
  replaceStorageManager({
    estimate: () => {
      asked = true;
      return estimate();
    },
  });
  const things = fixture.documents();
  while (!asked) {
    await things.insert({});
    await things.save();
    await new Promise((resolve) => setTimeout(resolve));
  }
  return things;
}

/** The status of storage that no browser keeps. */
function statusOf({ storage }: ClientKind): string | undefined {
  return storage === 'memory' ? 'memory' : storage === 'files' ? 'persistent' : undefined;
}

/** db.storage: persistence and quota. */
export function storageSuite(fixture: ClientFixture): void {
  describe('db.storage', () => {
    test('estimate() has the bytes of each collection and of its backups alone', async () => {
      await fixture.renew();
      const things = fixture.documents();
      const text = 'x'.repeat(1000);
      await things.insertMany(Array.from({ length: 300 }, (_, n) => ({ _id: `d${n}`, text })));
      await fixture.keyValues().set('a', 1);
      await things.createBackup();
      await fixture.db.save();
      const before = await fixture.db.storage.estimate();
      const sizes = (collection: string, { collections } = before) => {
        const found = collections.find((one) => one.collection === collection);
        if (!found) throw new Error(`There is no estimate of ${collection}.`);
        return found;
      };
      const { bytes, backup_bytes } = sizes(things.name);
      expect(backup_bytes).toBe(0);
      expect(bytes).toBeGreaterThan(300_000);
      expect(bytes).toBeLessThan(400_000);
      expect(sizes(fixture.nameOf('values')).bytes).toBeLessThan(100);
      // Enough dead segments for a compaction; the segments of the backup stay.
      for (const letter of 'abcdef') {
        const text = letter.repeat(1000);
        for (let n = 0; n < 300; n++) void things.update(`d${n}`, { text });
        await things.save();
      }
      await fixture.reopen();
      const after = sizes(things.name, await fixture.db.storage.estimate());
      expect(after.backup_bytes).toBe(bytes);
      expect(after.bytes).toBeGreaterThanOrEqual(bytes);
      expect(after.bytes).toBeLessThan(6 * bytes);
    });

    test('estimate() works during a compaction', async () => {
      const things = fixture.documents();
      const estimates: Promise<unknown>[] = [];
      for (let round = 0; round < 60; round++) {
        await things.insert({ round, text: 'x'.repeat(10_000) });
        await things.save();
        estimates.push(fixture.db.storage.estimate());
      }
      const outcomes = await Promise.allSettled(estimates);
      expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
    });

    test('status says whether the browser may evict the data', async () => {
      const known = statusOf(fixture.kind);
      const answers = [
        [true, 'persistent'],
        [false, 'best_effort'],
        [undefined, 'unsupported'],
      ] as const;
      for (const [persisted, status] of answers) {
        replaceStorageManager(persisted === undefined ? {} : { persisted: async () => persisted });
        expect(await fixture.db.storage.status).toBe(known ?? status);
      }
      replaceStorageManager(undefined);
      expect(await fixture.db.storage.status).toBe(known ?? 'unsupported');
    });

    test('status has the answer of this browser', async () => {
      const persisted = await globalThis.navigator?.storage?.persisted?.();
      const said = { true: 'persistent', false: 'best_effort', undefined: 'unsupported' };
      const expected = statusOf(fixture.kind) ?? said[`${persisted}`];
      expect(await fixture.db.storage.status).toBe(expected);
    });

    test('persist() asks the browser and returns its answer', async () => {
      for (const granted of [true, false]) {
        replaceStorageManager({ persist: async () => granted });
        expect(await fixture.db.storage.persist()).toBe(granted);
      }
      for (const manager of [{}, undefined]) {
        replaceStorageManager(manager);
        expect(await fixture.db.storage.persist()).toBe('unsupported');
      }
    });

    test('estimate() has the figures of the browser', async () => {
      replaceStorageManager({ estimate: async () => ({ usage: 20, quota: 100 }) });
      expect(await fixture.db.storage.estimate()).toMatchObject({ usage: 20, quota: 100 });
      for (const manager of [{}, undefined]) {
        replaceStorageManager(manager);
        const unknown = { usage: 'unsupported', quota: 'unsupported' };
        expect(await fixture.db.storage.estimate()).toMatchObject(unknown);
      }
    });

    test('the event quota follows a save from 80 % of the quota on', async () => {
      for (const usage of [79, 80]) {
        await fixture.renew();
        const log = new EventLog(fixture.db, 'quota');
        await saveUntilEstimated(fixture, async () => ({ usage, quota: 100 }));
        // The call resolves after the listeners ran.
        await fixture.db.storage.estimate();
        expect(log.events).toEqual(usage === 80 ? [{ usage: 80, quota: 100 }] : []);
      }
    });

    test('works in a browser without estimates', async () => {
      await fixture.renew();
      const log = new EventLog(fixture.db, 'quota');
      const things = await saveUntilEstimated(fixture, () => Promise.reject(new Error('not now')));
      expect(await things.count()).toBeGreaterThan(0);
      expect(fixture.db.status.last_error).toBe(undefined);
      expect(log.events).toEqual([]);
    });
  });
}
