import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { encrypted } from '../../src/encryption/index.ts';
import { BaseClient } from '../../src/page/client/base-client.ts';
import { connectInThread } from '../../src/page/connection/thread-engine.ts';
import type { Platform } from '../../src/platform/platform.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { openEncrypted } from '../../src/storage/encryption/open-encrypted.ts';
import { FakeClock, settled } from '../engine/fake-clock.ts';
import { lonePlatform } from '../engine/lone-platform.ts';

const failed = { name: 'CairnError', code: 'load_failed' };

/** The code of the part `storage`, as a worker gets it. */
let code: Platform['storageCode'];

const loaded: NonNullable<Platform['storageCode']> = async () => ({
  openEncrypted,
  openOpfs: async (name, { indexedDb, events }) => ({
    storage: await indexedDb.open(name, events),
    kind: 'opfs',
    why: undefined,
  }),
});

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const NAMES = ['opfs', 'encrypted'] as const;

/** A client of an engine that loads the code of its storage, as that of a worker. */
function openClient(storage: (typeof NAMES)[number]): BaseClient {
  const { encryption } = encrypted('indexeddb', { key: new Uint8Array(32).fill(3) });
  // As for a worker: a key without code.
  const forEngine = async (name: string) =>
    Object.assign(await encryption.forEngine(name, false), { code: undefined });
  const settings = {
    ...{ name: 'late storage', durability: 'relaxed' as const },
    ...(storage === 'opfs'
      ? { storage }
      : { storage: undefined, encryption: { ...encryption, forEngine } }),
  };
  const platform = Object.create(lonePlatform(new FakeClock(), memoryDriver()), {
    storageCode: { get: () => code },
  });
  return new BaseClient(settings, (given) => connectInThread(given, platform));
}

const notesOf = (client: BaseClient) =>
  new client.Collection<{ n: number }>({ name: 'notes', type: 'DOCUMENT_BASED' });

test.each(NAMES)(
  '%s: calls reject while its code does not load, and the next retries',
  async (storage) => {
    code = () => Promise.reject(new Error('offline'));
    const client = openClient(storage);
    const notes = notesOf(client);
    for (const call of [notes.insert({ n: 1 }), notes.ready, client.ready])
      await expect(call).rejects.toMatchObject(failed);
    expect(client.status).toMatchObject({ state: 'idle', last_error: failed });
    code = loaded;
    expect(await notes.insert({ n: 2 })).toMatchObject({ n: 2 });
    expect(await notes.count()).toBe(1);
    expect(client.status).toMatchObject({
      ...{ state: 'open', last_error: undefined },
      ...(storage === 'opfs' ? { storage } : { encrypted: true }),
    });
    await client.close();
  },
);

test.each(NAMES)(
  '%s: a request for its code that nobody answers ends after 20 s',
  async (storage) => {
    let isRequested = false;
    code = () => {
      isRequested = true;
      return new Promise(() => undefined);
    };
    const client = openClient(storage);
    let outcome: unknown;
    const counting = notesOf(client)
      .count()
      .catch((error: unknown) => {
        outcome = error;
      });
    while (!isRequested) await settled();
    vi.advanceTimersByTime(19_999);
    for (let turn = 0; turn < 20; turn++) await settled();
    expect(outcome).toBeUndefined();
    vi.advanceTimersByTime(1);
    await counting;
    expect(outcome).toMatchObject(failed);
    code = loaded;
    expect(await notesOf(client).count()).toBe(0);
    await client.close();
  },
);
