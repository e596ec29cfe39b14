import { afterEach, expect, test, vi } from 'vitest';
import { encrypted } from '../../src/encryption/index.ts';
import { StorageError, type StorageErrorCode } from '../../src/errors/errors.ts';
import { Database } from '../../src/index.ts';
import { BaseClient } from '../../src/page/client/base-client.ts';
import { connectInThread } from '../../src/page/connection/thread-engine.ts';
import { connectToWorker } from '../../src/page/connection/worker/connect-to-worker.ts';
import { deletableIndexedDb } from '../../src/storage/drivers/deletable-indexeddb.ts';
import { FakeClock, settled } from '../engine/fake-clock.ts';
import { lonePlatform } from '../engine/lone-platform.ts';
import { MessageWorker } from './message-worker.ts';

afterEach(() => void vi.restoreAllMocks());

let names = 0;
const freshName = () => `opening ${++names} ${Math.random()}`;
const notesOf = (client: BaseClient) =>
  new client.Collection({ name: 'notes', type: 'DOCUMENT_BASED' });

/** Lets `indexedDB.open` fail some times. Returns how often it was called. */
function failToOpen(times: number, name = 'UnknownError'): () => number {
  const { open } = IDBFactory.prototype;
  let left = times;
  const spy = vi.spyOn(IDBFactory.prototype, 'open').mockImplementation(function (
    this: IDBFactory,
    ...given
  ) {
    if (left-- > 0) throw new DOMException('Internal error opening backing store.', name);
    return open.apply(this, given);
  });
  return () => spy.mock.calls.length;
}

const DOORS = ['in the thread', 'in a worker', 'in a worker of the caller'] as const;

/** A client over IndexedDB, with a clock that the test advances. */
function openClient(door: (typeof DOORS)[number], name = freshName()) {
  const clock = new FakeClock();
  const platform = lonePlatform(clock, deletableIndexedDb());
  const settings = { name, storage: undefined, durability: 'relaxed' } as const;
  const make = () => new MessageWorker().asWorker;
  const worker = door === 'in a worker' ? make : make();
  const client = new BaseClient(settings, () =>
    door === 'in the thread'
      ? connectInThread(settings, platform)
      : connectToWorker({ worker, answer_timeout: 60 }, settings, platform),
  );
  return { client, clock };
}

/** Lets a client wait until it has failed to open `calls` times. */
async function opened(calls: () => number, times: number): Promise<void> {
  await expect.poll(calls).toBe(times);
  for (let turn = 0; turn < 10; turn++) await settled();
}

for (const door of DOORS) {
  test(`${door}: calls wait while the database cannot be opened, and the status says why`, async () => {
    const calls = failToOpen(3);
    const { client, clock } = openClient(door);
    const errors: unknown[] = [];
    client.on('status', ({ state, last_error: error }) => {
      if (error) errors.push([state, (error as StorageError).code]);
    });
    const inserted = notesOf(client).insert({ _id: 'a' });
    for (const attempt of [1, 2, 3]) {
      await opened(calls, attempt);
      expect(client.status).toMatchObject({
        state: 'opening',
        last_error: { code: 'storage_failed' },
      });
      await clock.advance(100 * 2 ** (attempt - 1));
    }
    expect(await inserted).toMatchObject({ _id: 'a' });
    expect(errors).toEqual(Array(3).fill(['opening', 'storage_failed']));
    expect(client.status).toMatchObject({ state: 'open', last_error: undefined });
    await client.close();
  });

  test(`${door}: a database that stays closed for 15 seconds rejects the calls`, async () => {
    const calls = failToOpen(Number.POSITIVE_INFINITY);
    const { client, clock } = openClient(door);
    const code = notesOf(client)
      .count()
      .catch((error: StorageError) => error.code);
    for (let attempt = 1; attempt < 8; attempt++) {
      await opened(calls, attempt);
      expect(client.status.state).toBe('opening');
      await clock.advance(100 * 2 ** (attempt - 1));
    }
    expect(await code).toBe('storage_failed');
    expect(client.status.state).toBe('failed');
    expect([calls(), clock.elapsed()]).toEqual([8, 12_700]);
  });

  test.each([
    ['VersionError', 'format_newer'],
    ['QuotaExceededError', 'storage_full'],
  ] as const)(`${door}: a database that ends in %s is not opened again`, async (name, code) => {
    const calls = failToOpen(1, name);
    const { client } = openClient(door);
    await expect(notesOf(client).count()).rejects.toMatchObject({ code });
    expect(calls()).toBe(1);
  });

  test(`${door}: a client that is destroyed meanwhile opens nothing any more`, async () => {
    const calls = failToOpen(1);
    const { client, clock } = openClient(door);
    const counted = notesOf(client).count();
    counted.catch(() => undefined);
    await opened(calls, 1);
    const destroyed = client.destroy();
    await expect.poll(() => client.status.state).toBe('closed');
    await clock.advance(60_000);
    await destroyed;
    await expect(counted).rejects.toMatchObject({ code: 'database_destroyed' });
    // By the deletion alone, which opens the database to empty it.
    expect(calls()).toBe(2);
    expect(clock.waiting).toBe(0);
  });
}

test.each<StorageErrorCode>([
  ...(['key_wrong', 'key_missing', 'key_not_derived', 'not_encrypted', 'format_newer'] as const),
  ...(['data_damaged', 'data_foreign', 'storage_moved', 'database_busy'] as const),
])('a driver that refuses by %s is asked once', async (code) => {
  const open = vi.fn().mockRejectedValue(new StorageError(code, 'No.'));
  const db = new Database({ name: freshName(), storage: { kind: 'refusing', open } });
  await expect(notesOf(db).count()).rejects.toMatchObject({ code });
  expect(open).toHaveBeenCalledOnce();
});

test('an encrypted database whose key record cannot be read is opened again', async () => {
  const key = crypto.getRandomValues(new Uint8Array(32));
  const make = (name: string) =>
    new Database({ name, storage: encrypted('indexeddb', { key: key.slice() }) });
  const name = freshName();
  const before = make(name);
  await notesOf(before).insert({ _id: 'a' });
  await before.close();
  const { get } = IDBObjectStore.prototype;
  let left = 1;
  vi.spyOn(IDBObjectStore.prototype, 'get').mockImplementation(function (
    this: IDBObjectStore,
    ...given
  ) {
    if (left-- > 0) throw new DOMException('Internal error.', 'UnknownError');
    return get.apply(this, given);
  });
  const db = make(name);
  expect(await notesOf(db).get('a')).toMatchObject({ _id: 'a' });
  expect(left).toBeLessThan(0);
  await db.close();
});
