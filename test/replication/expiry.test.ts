import { afterEach, expect, test } from 'vitest';
import type { Database } from '../../src/index.ts';
import { type Replication, replicate } from '../../src/replication/index.ts';
import { FakeClock, testDatabase } from '../../src/testing/index.ts';
import { MemoryRemote } from './memory-remote.ts';

interface Entry {
  _id: string;
  at?: Date;
  n?: number;
}

const open: { sync: Replication<never>; db: Database }[] = [];
afterEach(async () => {
  for (const { sync, db } of open.splice(0)) {
    await sync.stop();
    await db.close();
  }
});

function device(remote: MemoryRemote) {
  const clock = new FakeClock();
  const db = testDatabase({ clock });
  const entries = new db.Collection<Entry>({
    ...{ name: 'entries', type: 'DOCUMENT_BASED', expire_after: 'at' },
  });
  const sync = replicate(entries, { remote, live: false });
  open.push({ sync, db } as never);
  const inSeconds = (seconds: number) => new Date(clock.now() + seconds * 1000);
  const settled = () => sync.settled({ timeout: 60_000 });
  return { clock, entries, sync, inSeconds, settled };
}

test('what expires here is removed here, and no change for the server', async () => {
  const remote = new MemoryRemote();
  const { clock, entries, sync, inSeconds, settled } = device(remote);
  await entries.insertMany([{ _id: 'a', at: inSeconds(10) }, { _id: 'b' }]);
  await settled();
  await clock.advance(20_000);
  expect(await entries.count()).toBe(1);
  expect(sync.status.pending).toBe(0);
  await settled();
  expect(remote.document('a')).toMatchObject({ _id: 'a' });
  // A later state of the server comes as a new document.
  remote.edit('a', { at: inSeconds(3600) });
  await settled();
  expect(await entries.get('a')).toMatchObject({ at: inSeconds(3600) });
});

test('a change that is not pushed yet is pushed before its document is removed', async () => {
  const remote = new MemoryRemote();
  const { clock, entries, sync, inSeconds, settled } = device(remote);
  await entries.insert({ _id: 'a', at: inSeconds(10), n: 1 });
  await settled();
  sync.pause();
  await entries.patch('a', { n: 2 });
  await clock.advance(60_000);
  expect(await entries.get('a')).toBeUndefined();
  expect(sync.status.pending).toBe(1);
  sync.resume();
  await settled();
  expect(remote.document('a')).toMatchObject({ n: 2 });
  await clock.advance(60_000);
  expect(sync.status.pending).toBe(0);
  expect(remote.document('a')).toMatchObject({ n: 2 });
});

test('a new document that the server refuses leaves nothing when it expires', async () => {
  const remote = new MemoryRemote();
  remote.refuse = ({ id }) => (id === 'a' ? 'no' : undefined);
  const { clock, entries, sync, inSeconds, settled } = device(remote);
  await entries.insert({ _id: 'a', at: inSeconds(10) });
  await settled();
  expect(sync.status).toMatchObject({ pending: 0, rejected: 1 });
  await clock.advance(20_000);
  expect(await entries.get('a')).toBeUndefined();
  await settled();
  expect(sync.status).toMatchObject({ pending: 0, rejected: 0 });
});

test('a backup brings nothing back on the server that has expired since', async () => {
  const remote = new MemoryRemote();
  const { clock, entries, sync, inSeconds, settled } = device(remote);
  await entries.insertMany([
    { _id: 'a', at: inSeconds(10) },
    { _id: 'b' },
    { _id: 'c', at: inSeconds(10) },
  ]);
  await settled();
  const backup = await entries.createBackup();
  await clock.advance(20_000);
  await settled();
  // Another device deletes one, and gives the other a longer life.
  remote.write('a', undefined);
  remote.edit('c', { at: inSeconds(60), n: 1 });
  await entries.loadBackup(backup);
  expect(sync.status.pending).toBe(0);
  await settled();
  expect(remote.document('a')).toBeUndefined();
  expect(remote.document('c')).toMatchObject({ n: 1 });
  expect(await entries.get('c')).toMatchObject({ n: 1 });
  await clock.advance(60_000);
  expect(await entries.count()).toBe(1);
  expect(sync.status.pending).toBe(0);
});

test('a backup removes nothing from the server that has expired and is there still', async () => {
  const remote = new MemoryRemote();
  const { clock, entries, sync, inSeconds, settled } = device(remote);
  await entries.insert({ _id: 'b' });
  await settled();
  const backup = await entries.createBackup();
  await entries.insert({ _id: 'a', at: inSeconds(10) });
  await settled();
  clock.setTime(clock.now() + 20_000);
  expect(await entries.count()).toBe(1);
  await entries.loadBackup(backup);
  expect(sync.status.pending).toBe(0);
  await settled();
  expect(remote.document('a')).toMatchObject({ _id: 'a' });
});

test('a document of the server with another thing than a Date there never expires', async () => {
  const remote = new MemoryRemote();
  remote.write('a', { at: 'tomorrow' });
  const { clock, entries, settled } = device(remote);
  await settled();
  await clock.advance(60_000);
  expect(await entries.get('a')).toMatchObject({ at: 'tomorrow' });
});
