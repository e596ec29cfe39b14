import { expect, test, vi } from 'vitest';
import { parseDatabaseOptions } from '../../src/api/options/client-options.ts';
import { encrypted } from '../../src/encryption/index.ts';
import { BaseClient } from '../../src/page/client/base-client.ts';
import { pagePlatform } from '../../src/page/connection/page-platform.ts';
import { connectInThread } from '../../src/page/connection/thread-engine.ts';
import { connectToWorker } from '../../src/page/connection/worker/connect-to-worker.ts';
import type { PageLifecycle, Platform } from '../../src/platform/platform.ts';
import type { StorageDriver } from '../../src/storage/drivers/driver.ts';
import { indexedDbDriver } from '../../src/storage/drivers/indexeddb-driver.ts';
import { MessageWorker } from './message-worker.ts';

const key = new Uint8Array(32).fill(5);
let names = 0;

/** A page whose storage is this one; as in WebKit it hears that it is left. */
function openPage(driver: StorageDriver, isWebKit = false) {
  const name = `midway ${++names} ${Math.random()}`;
  const silent = () => () => undefined;
  const page: PageLifecycle = {
    ...{ isHidden: false, onHidden: silent, onLeft: silent, onReturned: silent },
    onLeaving: isWebKit ? silent : undefined,
  };
  const platform: Platform = Object.create(pagePlatform, {
    storage: { value: driver },
    page: { value: page },
  });
  const settings = (storage: 'indexeddb' | ReturnType<typeof encrypted>) =>
    parseDatabaseOptions({ name, storage: storage as 'indexeddb' });
  return { name, platform, settings };
}

const notesOf = (client: BaseClient) =>
  new client.Collection({ name: 'notes', type: 'DOCUMENT_BASED' });

/** Puts what a page left behind as it ended. */
async function leaveRecord(name: string, value: object): Promise<void> {
  const storage = await indexedDbDriver().open(name, { damaged: () => undefined });
  await storage.write([{ type: 'put', store: 'recovery', key: ['page', 1], value }], 'strict');
  await storage.close();
}

test('an encrypted database opens after a destroy() that ended between any two writes', async () => {
  let left = Number.POSITIVE_INFINITY;
  const ending: StorageDriver = {
    ...indexedDbDriver(),
    open: async (name, events) => {
      const storage = await indexedDbDriver().open(name, events);
      const write = storage.write.bind(storage);
      storage.write = async (...given) => {
        if (left-- <= 0) throw new Error('The page has ended.');
        await write(...given);
      };
      return storage;
    },
    delete: () => Promise.reject(new Error('The page has ended.')),
  };
  for (const writes of [0, 1]) {
    left = Number.POSITIVE_INFINITY;
    const { name, platform, settings } = openPage(ending);
    const open = () =>
      new BaseClient(settings(encrypted('indexeddb', { key })), (given) =>
        connectInThread(given, platform),
      );
    const client = open();
    await notesOf(client).insert({ _id: 'a' });
    await client.save();
    await leaveRecord(name, { sealed: 'by another page', key: ['page', 1] });
    left = writes;
    await expect(client.destroy()).rejects.toThrow();
    left = Number.POSITIVE_INFINITY;
    const anew = open();
    const found = await notesOf(anew).filter({});
    expect(found.map(({ _id }) => _id)).toEqual(writes === 0 ? ['a'] : []);
    await notesOf(anew).insert({ _id: 'b' });
    await anew.close();
  }
});

test('in WebKit the empty database stays where a worker was ended: it may keep its connection', async () => {
  for (const isWebKit of [true, false]) {
    const deleteIt = vi.fn(async () => undefined);
    const driver = { ...indexedDbDriver(), delete: deleteIt };
    const { platform, settings } = openPage(driver, isWebKit);
    const workers: MessageWorker[] = [];
    const worker = () => {
      const made = new MessageWorker();
      workers.push(made);
      return made.asWorker;
    };
    const open = () =>
      new BaseClient(settings('indexeddb'), (given) =>
        connectToWorker({ worker, answer_timeout: 60 }, given, platform),
      );
    const client = open();
    await notesOf(client).insert({ _id: 'a' });
    for (const one of workers) one.fallSilent();
    await client.destroy();
    expect(deleteIt).toHaveBeenCalledTimes(isWebKit ? 0 : 1);
    const anew = open();
    expect(await notesOf(anew).filter({})).toEqual([]);
    // A worker that answers has closed its connection. The page does not know of the other's.
    await anew.destroy();
    expect(deleteIt).toHaveBeenCalledTimes(isWebKit ? 0 : 2);
  }
});
