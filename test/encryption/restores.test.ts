import { expect, test } from 'vitest';
import { changePassword, encrypted } from '../../src/encryption/index.ts';
import { Database } from '../../src/index.ts';
import { crashPage, faultyDriver } from '../storage/faulty-driver.ts';

const bytes = (fill: number) => new Uint8Array(32).fill(fill);
const [OLD, NEW] = [bytes(1), bytes(2)];

test('a crash amid a restore and a change of the key leaves one key, and one state', async () => {
  for (let step = 0; ; step++) {
    const driver = faultyDriver();
    const open = (key: Uint8Array) => {
      const db = new Database({ name: 'notes', storage: encrypted(driver, { key }) });
      const notes = new db.Collection<{ n: number }>({ name: 'notes', type: 'DOCUMENT_BASED' });
      return { db, notes };
    };
    const { db, notes } = open(OLD);
    await notes.insert({ _id: 'a', n: 1 });
    const backup = await notes.createBackup();
    await notes.patch('a', { n: 2 });
    await notes.save();
    driver.cut({ after: step >> 1, when: step % 2 ? 'after' : 'before', dies: true });
    const [changed, restored] = await Promise.allSettled([
      changePassword({ name: 'notes', storage: driver, key: OLD, new_key: NEW }),
      notes.loadBackup(backup),
    ]);
    const wasCut = await crashPage(driver, () => db.close());
    const found: unknown[] = [];
    for (const key of [OLD, NEW]) {
      const again = open(key);
      const one = await again.notes.get('a').catch(({ code }) => code);
      found.push(one?.n ?? one);
      await again.db.close().catch(() => undefined);
    }
    const states = restored.status === 'fulfilled' ? [1] : [1, 2];
    const outcomes = states.flatMap((n) =>
      changed.status === 'fulfilled'
        ? [['key_wrong', n]]
        : [
            ['key_wrong', n],
            [n, 'key_wrong'],
          ],
    );
    expect([step, outcomes]).toEqual([step, expect.arrayContaining([found])]);
    if (!wasCut) break;
  }
});
