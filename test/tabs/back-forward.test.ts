import { expect, test } from 'vitest';
import { testAtNight } from '../setup/at-night.ts';
import type { TabScope } from './page/page.ts';
import { serveSync } from './replication/sync-site.ts';
import { browserOfTests, clients, ids, leads, openUntouchedBrowser, type Tab } from './tabs.ts';

declare const window: TabScope;

const browser = browserOfTests(openUntouchedBrowser);

const open = (client: 'connect' | 'Database') => browser.tab(client, browser.name);

/** Navigates away; the page goes to the back/forward cache. */
const goAway = (tab: Tab) => tab.goto(`${browser.url}?elsewhere`);

/** Navigates back. No page loads, so no `load` event fires. */
async function comeBack(tab: Tab): Promise<void> {
  const session = await browser.context.newCDPSession(tab);
  const reasons: string[] = [];
  // Pages see only `masked` for most reasons.
  session.on('Page.backForwardCacheNotUsed', ({ notRestoredExplanations }) =>
    reasons.push(...notRestoredExplanations.map(({ reason }) => reason)),
  );
  await session.send('Page.enable');
  await tab.goBack({ waitUntil: 'commit' });
  // The page is the old one; a new one would have no database.
  const isRestored = await tab.evaluate(() => 'db' in window);
  expect({ isRestored, reasons }).toEqual({ isRestored: true, reasons: [] });
  await session.detach();
}

/** Runs in a page: locks the recovery records in IndexedDB, as a leader does that reads them. */
async function lockRecords(database: string): Promise<void> {
  const opening = indexedDB.open(`cairn:${database}`);
  await new Promise((resolve) => {
    opening.onsuccess = resolve;
  });
  const begin = () => opening.result.transaction('recovery', 'readwrite').objectStore('recovery');
  let isLocked = true;
  await new Promise<void>((resolve) => {
    const records = begin();
    const read = () => {
      resolve();
      if (isLocked) records.count().onsuccess = read;
    };
    records.count().onsuccess = read;
  });
  window.unlockRecords = () =>
    new Promise<void>((resolve) => {
      // Begun before the other ends, so it waits for all transactions of other tabs that waited
      // first.
      begin().count().onsuccess = () => {
        opening.result.close();
        resolve();
      };
      isLocked = false;
    });
}

test.for(clients)(
  '%s: a leader in the back/forward cache resigns at once, and follows after its return',
  async (client) => {
    const first = await open(client);
    const second = await open(client);
    await first.evaluate(() => window.things.insert({ _id: 'a', n: 1 }));
    await second.evaluate(() => window.things.insert({ _id: 'b' }));
    await goAway(first);
    await second.evaluate(() => window.things.update('a', { n: 2 }));
    // No failover by timeout was needed, which takes five seconds.
    expect(await leads(second)).toBe(true);

    await comeBack(first);
    await first.evaluate(() => window.things.insert({ _id: 'c' }));
    expect(await leads(first)).toBe(false);
    for (const tab of [first, second]) {
      expect(await ids(tab)).toEqual(['a', 'b', 'c']);
      expect(await tab.evaluate(() => window.things.get('a'))).toMatchObject({ n: 2 });
    }
  },
);

testAtNight?.for(clients)('%s: the only page leads again after its return', async (client) => {
  const tab = await open(client);
  await tab.evaluate(() => window.things.insert({ _id: 'a' }));
  await goAway(tab);
  await comeBack(tab);
  await tab.evaluate(() => window.things.insert({ _id: 'b' }));
  expect(await ids(tab)).toEqual(['a', 'b']);
  expect(await leads(tab)).toBe(true);
  await tab.close({ runBeforeUnload: true });
  await expect.poll(() => tab.isClosed()).toBe(true);
  expect(await ids(await open(client))).toEqual(['a', 'b']);
});

test('a follower in the back/forward cache blocks no other tab, and goes on after its return', async () => {
  const leader = await open('connect');
  const follower = await open('connect');
  await follower.evaluate(() => window.things.insert({ _id: 'a' }));
  await goAway(follower);
  await leader.evaluate(() => window.things.insert({ _id: 'b' }));
  // Another tab takes the lead while the follower is in the cache.
  const third = await open('connect');
  expect(await ids(third)).toEqual(['a', 'b']);
  await third.evaluate(() => window.things.update('b', { n: 1 }));
  await leader.close();
  await third.evaluate(() => window.things.insert({ _id: 'c' }));
  await comeBack(follower);
  await follower.evaluate(() => window.things.insert({ _id: 'd' }));
  expect(await ids(follower)).toEqual(['a', 'b', 'c', 'd']);
  expect(await ids(third)).toEqual(['a', 'b', 'c', 'd']);
});

// Chromium evicts a cached page whose transaction another tab waits for, and the leader reads the
// records at this time.
test('a follower enters the back/forward cache without a transaction of IndexedDB', async () => {
  const database = browser.name;
  const leader = await open('connect');
  const follower = await open('connect');
  await follower.evaluate(() => window.things.insert({ _id: 'a' }));
  await leader.evaluate(lockRecords, database);
  await goAway(follower);
  const countJournals = () =>
    leader.evaluate(
      (prefix) => Object.keys(localStorage).filter((key) => key.startsWith(prefix)).length,
      `cairn:["${database}",`,
    );
  // From then on a transaction of the page, if it has begun one, waits for the lock.
  await expect.poll(countJournals).toBeGreaterThan(0);
  await leader.evaluate(() => window.unlockRecords());
  await comeBack(follower);
  await follower.evaluate(() => window.things.insert({ _id: 'b' }));
  for (const tab of [leader, follower]) expect(await ids(tab)).toEqual(['a', 'b']);
});

test('a page with two connections returns from the back/forward cache with all that both have changed', async () => {
  const tab = await open('connect');
  await tab.evaluate(async (shared) => {
    window.second = window.connect({ name: shared });
    window.theirs = new window.second.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
    await window.things.insert({ _id: 'a' });
    await window.theirs.insert({ _id: 'b' });
  }, browser.name);
  await goAway(tab);
  await comeBack(tab);
  expect(await ids(tab)).toEqual(['a', 'b']);
  await tab.evaluate(() => window.theirs.insert({ _id: 'c' }));
  expect(await ids(tab)).toEqual(['a', 'b', 'c']);
  expect(await leads(tab)).toBe(true);
  expect(await tab.evaluate(() => window.second.status.engine)).toBe('worker');
  await tab.reload();
  const next = await open('connect');
  expect(await ids(next)).toEqual(['a', 'b', 'c']);
});

test.each(['connect', 'Database'] as const)(
  '%s: a page in the back/forward cache returns though its handles are collected meanwhile',
  async (client) => {
    const tab = await open(client);
    await tab.evaluate(async () => {
      const made = Array.from(
        { length: 100 },
        () => new window.db.Collection({ name: 'others', type: 'DOCUMENT_BASED' }),
      );
      await Promise.all(made.map((others) => others.ready));
      window.made = made;
      addEventListener('pagehide', () => {
        window.made = undefined;
      });
    });
    await goAway(tab);
    // Pages of a site share their heap.
    const session = await browser.context.newCDPSession(tab);
    await session.send('HeapProfiler.enable');
    for (let times = 0; times < 3; times++) await session.send('HeapProfiler.collectGarbage');
    await session.detach();
    await tab.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
    await comeBack(tab);
  },
);

test('a page in the back/forward cache keeps no connection to the server, and hears after its return', async () => {
  const server = await serveSync();
  try {
    const tab = await open('connect');
    await tab.evaluate(async (url) => {
      const { http, replicate } = await window.loadReplication();
      window.sync = replicate(window.things, { remote: http({ url }) });
      await window.sync.settled();
    }, `${server.url}/things`);
    await expect.poll(() => server.streams()).toBe(1);
    await goAway(tab);
    await expect.poll(() => server.streams()).toBe(0);
    await comeBack(tab);
    await server.write('things', { _id: 'a' });
    await expect.poll(() => ids(tab)).toEqual(['a']);
    await expect.poll(() => server.streams()).toBe(1);
    await tab.goto('about:blank');
  } finally {
    await server.close();
  }
});
