import { afterEach, expect, test, vi } from 'vitest';
import { StorageError } from '../../src/errors/errors.ts';
import { BaseClient } from '../../src/page/client/base-client.ts';
import { Leadership, type LeadershipMember } from '../../src/page/connection/leadership.ts';
import { connectInThread } from '../../src/page/connection/thread-engine.ts';
import { connectToWorker } from '../../src/page/connection/worker/connect-to-worker.ts';
import { lockName } from '../../src/platform/lock-names.ts';
import type { Locks, Platform } from '../../src/platform/platform.ts';
import type { StorageDriver } from '../../src/storage/drivers/driver.ts';
import { FakeClock, settled } from '../engine/fake-clock.ts';
import { lonePlatform } from '../engine/lone-platform.ts';
import { MessageWorker } from './message-worker.ts';
import { silentChannel } from './silent-channel.ts';
import { TrappedEngines } from './trapped-engines.ts';

afterEach(() => void vi.restoreAllMocks());

const SETTINGS = { name: 'test', storage: undefined, durability: 'relaxed' } as const;

const notesOf = (client: BaseClient) =>
  new client.Collection({ name: 'notes', type: 'DOCUMENT_BASED' });

/** The platform of a page that other tabs may exist beside. */
const tabPlatform = (clock: FakeClock, storage: Platform['storage']): Platform => ({
  ...lonePlatform(clock, storage),
  broadcast: silentChannel,
});

test('the clients of a page share one engine where IndexedDB cannot be opened', async () => {
  vi.spyOn(console, 'warn').mockReturnValue();
  const unavailable: StorageDriver = {
    kind: 'indexeddb',
    open: async () => {
      throw new StorageError('storage_unavailable', 'IndexedDB cannot be opened here.');
    },
  };
  const platform = tabPlatform(new FakeClock(), unavailable);
  const open = () => new BaseClient(SETTINGS, (settings) => connectInThread(settings, platform));
  const one = open();
  const mine = notesOf(one);
  await mine.insert({ _id: 'a' });
  expect(one.status.storage).toBe('memory');
  const other = open();
  const theirs = notesOf(other);
  await theirs.insert({ _id: 'b' });
  expect(await theirs.count()).toBe(2);
  expect(await mine.count()).toBe(2);
  await one.close();
  expect(await theirs.count()).toBe(2);
  await other.close();
});

test('a client that failed with its worker searches for no other leader', async () => {
  const clock = new FakeClock();
  const platform = tabPlatform(clock, undefined);
  const worker = new MessageWorker();
  const client = new BaseClient({ ...SETTINGS, storage: 'memory' }, (settings) =>
    connectToWorker({ worker: worker.asWorker, answer_timeout: 10 }, settings, platform),
  );
  const notes = notesOf(client);
  await notes.insert({ _id: 'a' });
  worker.fail('crashed');
  await expect(notes.count()).rejects.toMatchObject({ code: 'worker_lost' });
  await clock.advance(60_000);
  expect(clock.waiting).toBe(0);
});

test('a page starts no engine for a client that failed, even where it keeps data in memory for want of IndexedDB', async () => {
  using engines = new TrappedEngines();
  engines.storageKind = 'memory';
  const platform = tabPlatform(engines.clock, engines.driver);
  const leadership = new Leadership('test', true, platform, engines.begin);
  const notes = notesOf(new BaseClient(SETTINGS, () => ({ leadership, platform })));
  await notes.insert({ _id: 'a' });
  engines.crash();
  await expect(notes.count()).rejects.toMatchObject({ code: 'worker_lost' });
  await engines.clock.advance(60_000);
  expect(engines.engines).toHaveLength(1);
});

/** Locks that are granted later, as in a browser. */
function lateLocks(locks: Locks): Locks {
  return {
    request: async (...request) => {
      await settled();
      return locks.request(...request);
    },
    query: () => locks.query(),
  };
}

test('a steal that succeeds after the last client has left starts no engine, and frees the lock', async () => {
  const platform = tabPlatform(new FakeClock(), undefined);
  const { locks } = platform;
  const lost = locks.request(lockName('test'), {}, () => new Promise(() => undefined));
  const start = vi.fn(() => new Promise<never>(() => undefined));
  const leadership = new Leadership('test', true, { ...platform, locks: lateLocks(locks) }, start);
  const ignore = () => undefined;
  const member: LeadershipMember = {
    ...{ client: 'client', database: undefined },
    ...{ elected: ignore, deposed: ignore, failed: ignore, destroyed: ignore, delayed: ignore },
  };
  leadership.join(member);
  leadership.steal();
  await leadership.leave(member);
  await expect(lost).rejects.toMatchObject({ name: 'AbortError' });
  expect(start).not.toHaveBeenCalled();
  const held = async () => (await locks.query()).held?.map(({ name }) => name);
  await expect.poll(held).not.toContain(lockName('test'));
});
