import { afterEach, expect, test, vi } from 'vitest';
import { Recovery } from '../../src/engine/recovery.ts';
import { ReplayBuffer } from '../../src/page/connection/replay.ts';
import { PairChannel } from '../../src/platform/pair-channel.ts';
import { Watchdog } from '../../src/platform/watchdog.ts';
import { MemoryStorage } from '../../src/storage/drivers/memory-storage.ts';
import { firstFailure } from './run-seeds.ts';

afterEach(() => vi.restoreAllMocks());

const PATIENCE = 600_000;

test(
  'an engine without a fence is found out',
  async () => {
    const { write, getMany } = MemoryStorage.prototype;
    vi.spyOn(MemoryStorage.prototype, 'write').mockImplementation(function (
      this: MemoryStorage,
      operations,
    ) {
      return write.call(
        this,
        [...operations].filter(({ type }) => type !== 'check'),
      );
    });
    // Nobody sees that there was another epoch.
    vi.spyOn(MemoryStorage.prototype, 'getMany').mockImplementation(function (
      this: MemoryStorage,
      store,
      keys,
    ) {
      return store === 'leadership'
        ? Promise.resolve(keys.map(() => undefined))
        : getMany.call(this, store, keys);
    });
    expect(await firstFailure()).toBeDefined();
  },
  PATIENCE,
);

test(
  'an engine that forgets replays is detected',
  async () => {
    vi.spyOn(Recovery.prototype, 'replay').mockImplementation(async () => new Map());
    expect(await firstFailure()).toBeDefined();
  },
  PATIENCE,
);

test(
  'a client that keeps nothing is found out',
  async () => {
    vi.spyOn(ReplayBuffer.prototype, 'note').mockImplementation(() => []);
    expect(await firstFailure()).toBeDefined();
  },
  PATIENCE,
);

test(
  'a save that is acknowledged and lost is found out',
  async () => {
    const { write } = MemoryStorage.prototype;
    let writes = 0;
    vi.spyOn(MemoryStorage.prototype, 'write').mockImplementation(function (
      this: MemoryStorage,
      operations,
    ) {
      return ++writes % 20 === 0 ? Promise.resolve() : write.call(this, operations);
    });
    expect(await firstFailure()).toBeDefined();
  },
  PATIENCE,
);

test(
  'a batch that is lost between tabs, and not asked again, is found out',
  async () => {
    const { postMessage } = PairChannel.prototype;
    let messages = 0;
    vi.spyOn(PairChannel.prototype, 'postMessage').mockImplementation(function (
      this: PairChannel,
      message,
    ) {
      const { path } = message as { path?: string[] };
      if (path?.[0] === 'execute' && ++messages % 10 === 0) return;
      postMessage.call(this, message);
    });
    // Nobody looks whether something is missing.
    vi.spyOn(Watchdog.prototype, 'wake').mockImplementation(() => undefined);
    expect(await firstFailure()).toBeDefined();
  },
  PATIENCE,
);
