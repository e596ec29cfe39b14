import { expect, test } from 'vitest';
import { Engine } from '../../src/engine/engine.ts';
import { plainSettings } from '../../src/engine/protocol/settings.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { FakeClock } from './fake-clock.ts';

const HANDLE = 1;

test('an engine that ends waits for what a collection writes whose place another is taking', async () => {
  const driver = faultyDriver(memoryDriver(), true);
  const storage = await driver.open('db', { damaged: () => undefined });
  const engine = new Engine({
    ...{ storage, storageKind: 'indexeddb', durability: 'relaxed', clock: new FakeClock() },
    newId: () => 'x',
  });
  const join = (field: string) => {
    const indexes = [{ name: field, fields: [field], unique: false, multi: false }];
    const session = engine.join(() => undefined);
    const settings = { ...plainSettings('notes', 'DOCUMENT_BASED'), indexes };
    session.openAll([[HANDLE, settings]]);
    return session;
  };
  const old = join('a');
  await old.execute([{ op: 'insert', handle: HANDLE, body: '{}' }]);
  expect(driver.batches).toHaveLength(0);
  old.leave();
  join('b');
  await engine.stop();
  expect(driver.batches.flat()).toContainEqual(expect.objectContaining({ store: 'segments' }));
});
