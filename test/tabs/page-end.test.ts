import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TabScope } from './page/page.ts';
import { ids, openBrowser, type Tab, type TabBrowser, writeAllTheTime } from './tabs.ts';

declare const window: TabScope;

let browser: TabBrowser;
let name = 0;

beforeAll(async () => {
  browser = await openBrowser();
});

beforeEach(() => {
  name++;
});

afterEach(() => browser.closeTabs());

afterAll(() => browser.close());

const database = () => `test ${name}`;
const open = (door: 'connect' | 'Database' = 'connect') => browser.tab(door, database());

const NAMES = Array.from({ length: 500 }, (_, n) => `n${n}`).sort();

/** Nothing is saved by itself for an hour: what is there afterwards was written as the page ended. */
const write = (tab: Tab) =>
  tab.evaluate(async (names) => {
    await window.things.insertMany(names.map((_id) => ({ _id })));
  }, NAMES);

describe.each(['connect', 'Database'] as const)('%s: what a page was told is there', (door) => {
  test('after a reload', async () => {
    const tab = await open(door);
    await write(tab);
    await tab.reload();
    await tab.close();
    expect(await ids(await open(door))).toEqual(NAMES);
  });

  test('after going to another site', async () => {
    const tab = await open(door);
    await write(tab);
    await tab.goto('data:text/html,elsewhere');
    await tab.close();
    expect(await ids(await open(door))).toEqual(NAMES);
  });

  test('after going away and coming back', async () => {
    const tab = await open(door);
    await write(tab);
    await tab.goto(`${browser.url}?elsewhere`);
    await tab.goBack();
    const isSame = await tab.evaluate(() => 'db' in window);
    if (isSame) {
      expect(await ids(tab)).toEqual(NAMES);
      await tab.evaluate(() => window.things.insert({ _id: 'later' }));
      expect(await ids(tab)).toEqual(['later', ...NAMES]);
    } else {
      await tab.close();
      expect(await ids(await open(door))).toEqual(NAMES);
    }
  });

  test('after it was closed', async () => {
    const tab = await open(door);
    await write(tab);
    await tab.close({ runBeforeUnload: true });
    await expect.poll(() => tab.isClosed()).toBe(true);
    expect(await ids(await open(door))).toEqual(NAMES);
  });

  test('and what was begun and not answered, once', async () => {
    const tab = await open(door);
    const reloaded = tab.waitForEvent('load');
    await tab.evaluate(() => {
      for (let n = 0; n < 20; n++) void window.things.insert({ _id: `n${n}` });
      location.reload();
    });
    await reloaded;
    await tab.close();
    expect(await ids(await open(door))).toEqual(
      Array.from({ length: 20 }, (_, n) => `n${n}`).sort(),
    );
  });
});

test('what a page was told is there, although its worker was writing all the time', async () => {
  const tab = await open();
  await tab.evaluate(writeAllTheTime, database());
  await tab.evaluate(() => window.things.insert({ _id: 'told' }));
  await tab.reload();
  await tab.close();
  expect(await ids(await open())).toEqual(['told']);
});

test('a follower that goes away leaves what the leader has not saved to the leader', async () => {
  const leader = await open();
  const follower = await open();
  await write(follower);
  await follower.evaluate(() => window.things.update('n1', { n: 1 }));
  await follower.reload();
  await leader.evaluate(() => window.things.update('n1', { n: 2 }));
  expect(await ids(leader)).toEqual(NAMES);
  await leader.evaluate(() => window.db.save());
  await leader.close();
  await follower.close();
  const later = await open();
  expect(await ids(later)).toEqual(NAMES);
  expect(await later.evaluate(() => window.things.get('n1'))).toMatchObject({ n: 2 });
});

test('what a page was told lies beside the save from the moment it is hidden until that is done', async () => {
  const tab = await open();
  await tab.evaluate(() => window.things.insert({ _id: 'told' }));
  const counts = await tab.evaluate(async (database) => {
    const connection = await new Promise<IDBDatabase>((resolve) => {
      const opening = indexedDB.open(database);
      opening.onsuccess = () => resolve(opening.result);
    });
    const countRecords = () =>
      new Promise<number>((resolve) => {
        const counting = connection.transaction('recovery').objectStore('recovery').count();
        counting.onsuccess = () => resolve(counting.result);
      });
    Object.defineProperty(document, 'visibilityState', { value: 'hidden' });
    document.dispatchEvent(new Event('visibilitychange'));
    const beside = await countRecords();
    await window.db.save();
    let left = beside;
    while (left > 0) left = await countRecords();
    document.dispatchEvent(new Event('visibilitychange'));
    return [beside, left, await countRecords()];
  }, `cairn:${database()}`);
  expect(counts).toEqual([1, 0, 0]);
});
