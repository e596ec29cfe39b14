import { expect, test } from 'vitest';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { changedDriver } from '../storage/pass-on.ts';
import { openClient } from './engine-client.ts';
import { settled } from './fake-clock.ts';

const COUNT = 1500;
const person = (n: number) => ({ _id: `p${n}`, name: `Person ${n}`, pad: 'x'.repeat(300) });

/** A driver that counts writes to the segments of a collection, and may refuse to delete any. */
function watchedDriver() {
  const inner = memoryDriver();
  const seen = { writes: 0, keeps: false };
  const driver = changedDriver(inner, (storage) => ({
    write: (operations, durability) => {
      const list = [...operations];
      const changes = list.filter(({ store }) => store === 'segments' || store === 'collections');
      seen.writes += changes.length;
      if (seen.keeps && changes.some(({ type }) => type === 'delete')) throw new Error('Ended.');
      return storage.write(list, durability);
    },
  }));
  /** What is stored of the collection, but for its manifest and the number of its last segment. */
  const stored = async (): Promise<readonly object[]> => {
    const storage = await inner.open('test', { damaged: () => undefined });
    const segments = await storage.keys('segments', ['people']);
    const bodies = await storage.keys('bodies', ['people']);
    await storage.close();
    return [...segments, ...bodies.filter(([, part]) => part !== 'last')];
  };
  return { driver, seen, stored };
}

function visit(driver: ReturnType<typeof watchedDriver>['driver']) {
  const { client } = openClient(driver);
  const people = new client.Collection({ name: 'people', type: 'DOCUMENT_BASED' });
  return { client, people };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 60; turn++) await settled();
}

test('what is deleted right before the end of an engine goes with the next opening', async () => {
  const { driver, seen, stored } = watchedDriver();
  const first = visit(driver);
  await first.people.insertMany(Array.from({ length: COUNT }, (_, n) => person(n)));
  await first.people.save();
  seen.keeps = true;
  await first.people.deleteMany({});
  await first.people.save();
  await first.client.close();
  expect((await stored()).length).toBeGreaterThan(4);
  seen.keeps = false;
  for (const writes of ['some', 'none']) {
    seen.writes = 0;
    const next = visit(driver);
    expect(await next.people.count({})).toBe(0);
    await turns();
    expect(await stored()).toEqual([]);
    expect((await next.client.storage.estimate()).collections).toMatchObject([{ bytes: 0 }]);
    await next.client.close();
    expect(seen.writes > 0).toBe(writes === 'some');
  }
});

test('a backup keeps what it needs, until it is deleted', async () => {
  const { driver, stored } = watchedDriver();
  const { client, people } = visit(driver);
  await people.insertMany(Array.from({ length: COUNT }, (_, n) => person(n)));
  const backup = await people.createBackup();
  await people.deleteMany({});
  await people.save();
  await turns();
  expect((await client.storage.estimate()).collections).toMatchObject([{ bytes: 0 }]);
  const view = await people.at(backup);
  expect(await view.count({})).toBe(COUNT);
  expect(await view.get('p7')).toMatchObject(person(7));
  await view.close();
  expect((await stored()).length).toBeGreaterThan(4);
  await people.deleteBackup(backup);
  await turns();
  await people.insert(person(1));
  await people.delete('p1');
  await people.save();
  await turns();
  expect((await stored()).length).toBeLessThan(4);
  await client.close();
});
