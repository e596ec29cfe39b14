import { expect, test } from 'vitest';
import type { StorageDriver } from '../../src/storage/driver.ts';
import { memoryDriver } from '../../src/storage/memory-driver.ts';
import { openDoor } from './engine-door.ts';

test('an estimate that takes its time does not trip over segments that were merged meanwhile', async () => {
  const memory = memoryDriver();
  let gate: Promise<void> | undefined;
  let reached: () => void = () => undefined;
  const slow: StorageDriver = {
    kind: 'slow',
    async open(name, events) {
      const storage = await memory.open(name, events);
      const list: typeof storage.list = async (store, range) => {
        const values = await storage.list(store, range);
        // Between the manifests that are listed here and the segments that they name.
        if (store === 'collections' && gate) {
          reached();
          await gate;
        }
        return values;
      };
      return Object.assign(Object.create(storage) as typeof storage, {
        list,
        getMany: storage.getMany.bind(storage),
        keys: storage.keys.bind(storage),
        write: storage.write.bind(storage),
        close: storage.close.bind(storage),
      });
    },
  };
  const { door } = openDoor(slow);
  const things = new door.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
  const saveSome = async () => {
    for (let round = 0; round < 20; round++) {
      await things.insert({ round, text: 'x'.repeat(10_000) });
      await things.save();
    }
  };
  await saveSome();
  let open: () => void = () => undefined;
  gate = new Promise((resolve) => {
    open = resolve;
  });
  const listed = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const estimate = door.storage.estimate();
  await listed;
  await things.deleteMany({});
  await saveSome();
  open();
  const { collections } = await estimate;
  expect(collections.map(({ collection }) => collection)).toEqual(['things']);
  await door.close();
});
