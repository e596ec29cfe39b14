import { Recovery } from '../../src/engine/recovery.ts';
import { ReplayBuffer } from '../../src/page/connection/replay.ts';
import { PairChannel } from '../../src/platform/pair-channel.ts';
import { Watchdog } from '../../src/platform/watchdog.ts';
import { MemoryStorage } from '../../src/storage/drivers/memory-storage.ts';
import { change, findsBroken } from './broken.ts';

const finds = findsBroken(undefined, 5000);

finds('an engine without a fence is found out', () => {
  change(MemoryStorage.prototype, 'write', (write, operations, ...rest) =>
    write(
      [...operations].filter(({ type }) => type !== 'check'),
      ...rest,
    ),
  );
  // Nobody sees that there was another epoch.
  change(MemoryStorage.prototype, 'getMany', (getMany, store, keys) =>
    store === 'leadership' ? Promise.resolve(keys.map(() => undefined)) : getMany(store, keys),
  );
});

finds('an engine that forgets replays is detected', () =>
  change(Recovery.prototype, 'replay', async () => new Map()),
);

finds('a client that keeps nothing is found out', () =>
  change(ReplayBuffer.prototype, 'note', () => []),
);

finds('a save that is acknowledged and lost is found out', () => {
  let writes = 0;
  change(MemoryStorage.prototype, 'write', (write, ...args) =>
    ++writes % 20 === 0 ? Promise.resolve() : write(...args),
  );
});

finds('a batch that is lost between tabs, and not asked again, is found out', () => {
  let messages = 0;
  change(PairChannel.prototype, 'postMessage', (postMessage, message) => {
    const { path } = message as { path?: string[] };
    if (path?.[0] !== 'execute' || ++messages % 10 !== 0) postMessage(message);
  });
  // Nobody looks whether something is missing.
  change(Watchdog.prototype, 'wake', () => undefined);
});
