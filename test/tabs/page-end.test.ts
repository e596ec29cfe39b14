import { describe, expect, test } from 'vitest';
import { allAtNight, testAtNight } from '../setup/at-night.ts';
import type { TabScope } from './page/page.ts';
import {
  browserOfTests,
  crash,
  ids,
  openUntouchedBrowser,
  type Tab,
  type TabClient,
  writeAllTheTime,
} from './tabs.ts';

declare const window: TabScope;

const browser = browserOfTests(openUntouchedBrowser, { mayFail: true });

const database = () => browser.name;
const open = (client: TabClient = 'connect') => browser.tab(client, database());

const NAMES = Array.from({ length: 500 }, (_, n) => `n${n}`).sort();

/** No automatic save for an hour: changes kept afterwards were written as the page ended. */
const write = (tab: Tab) =>
  tab.evaluate(async (names) => {
    await window.things.insertMany(names.map((_id) => ({ _id })));
  }, NAMES);

/**
 * Hides a page, as far as its scripts can tell; returns how many journals there are then.
 *
 * @param pushed Is pushed before, in the same task as the page hides once this is acknowledged: no
 *   save is done by then.
 */
const hide = (tab: Tab, pushed?: number) =>
  tab.evaluate(async (pushed) => {
    if (pushed !== undefined) await window.numbers.push('all', pushed);
    Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
    return Object.keys(localStorage).filter((key) => key.startsWith('cairn:')).length;
  }, pushed);

/**
 * Waits until the page can journal calls in flight: an encrypted client needs its keys first.
 * Changes made before are acknowledged once they are saved.
 */
const whenJournalable = (tab: Tab) =>
  expect
    .poll(async () => {
      await tab.evaluate(() => window.numbers.set('written', 1));
      const journals = await hide(tab);
      await tab.evaluate(() => Reflect.deleteProperty(document, 'visibilityState'));
      return journals;
    })
    .toBe(1);

/**
 * Closes a tab once the page that it has left is gone. Chromium ends such a page together with its
 * tab, even before its `pagehide`: of pages that were blocked for two seconds then, 5 of 5 lost
 * their last changes.
 */
async function closeLeft(tab: Tab) {
  const watcher = await browser.watch();
  await expect
    .poll(() => watcher.evaluate(async () => (await navigator.locks.query()).held?.length))
    .toBe(0);
  await tab.close();
}

const countJournals = (tab: Tab) =>
  tab.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('cairn:')).length);

/**
 * Files and encryption differ in what they do as a page ends; together they do both. The losses
 * have `Database`.
 */
const CLIENTS = allAtNight<TabClient>(
  ['connect', 'Database', 'opfs', 'encrypted', 'encrypted opfs'],
  ['connect', 'encrypted opfs'],
);

const LARGE = ['a Blob', 'three megabytes of text'] as const;

// Pages that return from the back/forward cache: back-forward.test.ts.
describe.each(CLIENTS)('%s: acknowledged changes are kept', (client) => {
  /** Defines what is the same in each client. */
  const testOnce = client === 'connect' ? test : testAtNight;

  test('after a reload', async () => {
    const tab = await open(client);
    await write(tab);
    await tab.reload();
    await tab.close();
    expect(await ids(await open(client))).toEqual(NAMES);
  });

  testOnce?.('in the order of their calls', async () => {
    const tab = await open(client);
    await tab.evaluate(() => window.things.insert({ _id: 'a', n: 1 }));
    await tab.evaluate(() => window.db.save());
    await tab.evaluate(() =>
      Promise.all([window.things.delete('a'), window.things.insertMany([{ _id: 'a', n: 2 }])]),
    );
    await tab.reload();
    await tab.close();
    const later = await open(client);
    expect(await later.evaluate(() => window.things.get('a'))).toMatchObject({ n: 2 });
  });

  testAtNight?.('after a navigation to another site', async () => {
    const tab = await open(client);
    await write(tab);
    await tab.goto('data:text/html,elsewhere');
    await closeLeft(tab);
    expect(await ids(await open(client))).toEqual(NAMES);
  });

  testOnce?.('after the tab was closed', async () => {
    const tab = await open(client);
    await write(tab);
    await tab.close({ runBeforeUnload: true });
    await expect.poll(() => tab.isClosed()).toBe(true);
    expect(await ids(await open(client))).toEqual(NAMES);
  });

  // Chromium sends only `visibilitychange` when it quits. No save succeeds here.
  testOnce?.('after a follower was hidden and crashed with the leader', async () => {
    const leader = await open(client);
    await leader.evaluate(writeAllTheTime, database());
    const follower = await open(client);
    await whenJournalable(follower);
    await follower.evaluate(() => window.things.insert({ _id: 'a', n: 1 }));
    await follower.evaluate(() => window.things.update('a', { n: 2 }));
    expect(await hide(follower)).toBe(1);
    await Promise.all([crash(leader), crash(follower)]);
    const later = await open(client);
    expect(await later.evaluate(() => window.things.get('a'))).toMatchObject({ n: 2 });
  });

  testAtNight?.('after a leader was hidden and crashed', async () => {
    const tab = await open(client);
    await whenJournalable(tab);
    await tab.evaluate(writeAllTheTime, database());
    await tab.evaluate(() => window.things.insert({ _id: 'a' }));
    expect(await hide(tab)).toBe(1);
    await crash(tab);
    expect(await ids(await open(client))).toEqual(['a']);
  });

  // The unload journal has no room for them: they are saved before they are acknowledged.
  testOnce?.for(allAtNight(LARGE, LARGE.slice(0, 1)))('after a crash, with %s', async (kind) => {
    const [leader, follower] = [await open(client), await open(client)];
    const insert = (tab: Tab, _id: string) =>
      tab.evaluate(
        async ([_id, kind]) => {
          const value = kind === 'a Blob' ? new Blob(['x'.repeat(1000)]) : 'x'.repeat(3_000_000);
          await window.things.insert({ _id, value });
        },
        [_id, kind] as const,
      );
    await Promise.all([insert(leader, 'a'), insert(follower, 'b')]);
    await Promise.all([crash(leader), crash(follower)]);
    expect(await ids(await open(client))).toEqual(['a', 'b']);
  });

  testOnce?.('and calls in flight are applied once, after a reload', async () => {
    const tab = await open(client);
    await whenJournalable(tab);
    const reloaded = tab.waitForEvent('load');
    await tab.evaluate(() => {
      for (let n = 0; n < 20; n++) void window.things.insert({ _id: `n${n}` });
      location.reload();
    });
    await reloaded;
    await tab.close();
    expect(await ids(await open(client))).toEqual(
      Array.from({ length: 20 }, (_, n) => `n${n}`).sort(),
    );
  });
});

test('a hidden page that lives on removes its journal after its save, and no change is applied twice', async () => {
  const [leader, follower] = [await open(), await open()];
  await leader.evaluate(() => window.numbers.set('all', []));
  await leader.evaluate(() => window.db.save());
  for (const [index, tab] of [leader, follower].entries()) {
    await tab.bringToFront();
    await expect.poll(() => tab.evaluate(() => document.visibilityState)).toBe('visible');
    expect(await hide(tab, index + 1)).toBe(1);
    await expect.poll(() => countJournals(tab)).toBe(0);
  }
  await follower.evaluate(() => window.numbers.push('all', 3));
  for (const tab of [leader, follower])
    expect(await tab.evaluate(() => window.numbers.get('all'))).toEqual([1, 2, 3]);
  await Promise.all([crash(leader), crash(follower)]);
  const later = await open();
  expect(await later.evaluate(() => window.numbers.get('all'))).toMatchObject([1, 2, 3]);
});

test('a hidden page saves at once', async () => {
  const tab = await open();
  await hide(tab);
  await tab.evaluate(() => window.things.insert({ _id: 'a' }));
  await expect.poll(() => tab.evaluate(() => window.db.status.unsaved)).toBe(0);
});

// A change that no save has reached is in the journal: the tests of crashes have that each time.
testAtNight?.(
  'acknowledged changes survive a reload, although the worker was writing all the time',
  async () => {
    const tab = await open();
    await tab.evaluate(writeAllTheTime, database());
    await tab.evaluate(() => window.things.insert({ _id: 'told' }));
    await tab.reload();
    await tab.close();
    expect(await ids(await open())).toEqual(['told']);
  },
);

test('a follower that ends passes its unsaved changes to the leader', async () => {
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

test('a hidden leader stores a recovery record until its save is done', async () => {
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
