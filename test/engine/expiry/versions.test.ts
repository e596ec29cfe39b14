import { beforeEach, expect, test, vi } from 'vitest';
import type { ExpireOption } from '../../../src/api/options/expire-options.ts';
import { settled } from '../fake-clock.ts';
import { type ExpiryRig, openRig } from './expiry-rig.ts';

/** What expires by then is removed. */
async function pass({ clock, client }: ExpiryRig): Promise<void> {
  for (let look = 0; look < 3; look++) {
    await clock.advance(15_000);
    await settled();
  }
  expect(client.status.last_error).toBeUndefined();
}

// Of handles with other times.
beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation(() => undefined));

const ids = async ({ entries }: ExpiryRig) => (await entries.filter({})).map(({ _id }) => _id);

test('the time of newer code does not count for documents that it has not migrated', async () => {
  const before = openRig({ expire_after: undefined });
  const { driver, clock, inSeconds } = before;
  await before.entries.insert({ _id: 'a', at: inSeconds(-10) });
  await before.client.close();

  const fail = () => {
    throw new Error('a bug');
  };
  const failing = openRig({ version: 2, migrate: { 2: fail } }, driver, clock);
  await expect(failing.entries.count()).rejects.toMatchObject({ code: 'migration_failed' });
  await pass(failing);
  await failing.client.close();

  const migrated = openRig(
    { version: 2, migrate: { 2: (entry: object) => ({ ...entry, at: null }) } },
    driver,
    clock,
  );
  expect(await ids(migrated)).toEqual(['a']);
  const [backup] = await migrated.entries.listBackups();
  await migrated.entries.insert({ _id: 'b', at: inSeconds(5) });
  await pass(migrated);
  expect(await ids(migrated)).toEqual(['a']);
  await migrated.client.close();

  const undoing = openRig({ version: 2 }, driver, clock);
  const older = new undoing.client.Collection({ name: 'entries', type: 'DOCUMENT_BASED' });
  await older.loadBackup(backup?.name as string);
  await pass(undoing);
  expect(await older.count()).toBe(1);
  await undoing.client.close();
});

test.each<[string, ExpireOption | undefined, string[]]>([
  ['the time of older code counts no more once documents are migrated', undefined, ['a', 'b']],
  ['a time that both have goes on', 'at', ['b']],
])('%s', async (_, expire_after, left) => {
  const older = openRig();
  const { client, inSeconds } = older;
  await older.entries.insertMany([{ _id: 'a', at: inSeconds(10) }, { _id: 'b' }]);
  const newer = new client.Collection({
    name: 'entries',
    type: 'DOCUMENT_BASED',
    version: 2,
    expire_after,
    migrate: { 2: (entry: object) => entry },
  });
  await newer.ready;
  await pass(older);
  expect((await newer.filter({})).map(({ _id }) => _id)).toEqual(left);
  await client.close();
});
