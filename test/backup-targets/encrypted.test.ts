import { expect, test } from 'vitest';
import { restoreFrom } from '../../src/backup-targets/index.ts';
import { encryptedTarget } from '../../src/encryption/index.ts';
import { rejection } from '../contract/outcomes.ts';
import { backUpIn, newDatabase, newEnvironment, rowsFrom } from './device.ts';
import { MemoryTarget } from './memory-target.ts';

const key = new Uint8Array(32).fill(7);

/** A target with two encrypted backups of one database, and what it held. */
async function backedUp() {
  const { db, rows } = newDatabase();
  const inner = new MemoryTarget();
  const environment = newEnvironment();
  const remote = backUpIn(environment, db, encryptedTarget(inner, { key }));
  await rows.insertMany(rowsFrom(0, 2000));
  await remote.run();
  await environment.clock.advance(1000); // backups are ordered by their times
  await rows.insert({ _id: 'known', n: -1, text: 'known words' });
  const second = await remote.run();
  return { inner, remote, second, rows };
}

test('an encrypted backup is incremental, verified, and restored with its key', async () => {
  const { inner, remote, second, rows } = await backedUp();
  expect(second.reused_bytes).toBeGreaterThan(second.uploaded_bytes);
  expect(await remote.verify()).toMatchObject({ whole: true });

  const other = newDatabase();
  await restoreFrom(encryptedTarget(inner, { key }), { db: other.db });
  expect(await other.rows.filter({})).toEqual(await rows.filter({}));
});

test('its objects show no word, and are of no use with another key or without one', async () => {
  const { inner } = await backedUp();
  for (const bytes of inner.objects.values()) {
    const text = new TextDecoder('latin1').decode(bytes);
    expect(text).not.toMatch(/known|rows|shop|documents/);
  }
  const other = newDatabase();
  await other.rows.insert({ _id: 'mine', n: 1 });
  const wrong = encryptedTarget(inner, { key: new Uint8Array(32).fill(8) });
  expect((await rejection(restoreFrom(wrong, { db: other.db }))).code).toBe('key_wrong');
  expect((await rejection(restoreFrom(inner, { db: other.db }))).code).toMatch(/^target_/);
  expect(await other.rows.count()).toBe(1);
});
