import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { TabScope } from './page/page.ts';
import { ids, leads, openUntouchedBrowser, type Tab, type UntouchedBrowser } from './tabs.ts';

declare const window: TabScope;

let browser: UntouchedBrowser;
let name = 0;

beforeAll(async () => {
  browser = await openUntouchedBrowser();
});

beforeEach(() => {
  name++;
});

afterEach(() => browser.closeTabs());

afterAll(async () => {
  await browser.close();
  expect(browser.errors).toEqual([]);
});

const open = (client: 'connect' | 'Database') => browser.tab(client, `test ${name}`);

/** Goes to another page; the one that is left rests in the back/forward cache. */
const goAway = (tab: Tab) => tab.goto(`${browser.url}?elsewhere`);

/** Comes back. No page is loaded then, so there is no `load` to wait for. */
async function comeBack(tab: Tab): Promise<void> {
  await tab.goBack({ waitUntil: 'commit' });
  const reasons = await tab.evaluate(() => {
    const [entry] = performance.getEntriesByType('navigation') as (PerformanceEntry & {
      notRestoredReasons?: { reasons: readonly { reason: string }[] | null };
    })[];
    // It is the page that was left; one that was loaded anew would have no database.
    return 'db' in window ? [] : entry?.notRestoredReasons?.reasons?.map(({ reason }) => reason);
  });
  expect(reasons).toEqual([]);
}

test.for(['connect', 'Database'] as const)(
  '%s: a leader that rests gives the lead away at once, and follows when it is back',
  async (client) => {
    const first = await open(client);
    const second = await open(client);
    await first.evaluate(() => window.things.insert({ _id: 'a', n: 1 }));
    await second.evaluate(() => window.things.insert({ _id: 'b' }));
    await goAway(first);
    await second.evaluate(() => window.things.update('a', { n: 2 }));
    // Nobody had to find out that the first is silent: that takes five seconds.
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

test.for(['connect', 'Database'] as const)(
  '%s: a page that is alone leads again when it is back',
  async (client) => {
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
  },
);

test('a follower that rests is missed by nobody, and goes on when it is back', async () => {
  const leader = await open('connect');
  const follower = await open('connect');
  await follower.evaluate(() => window.things.insert({ _id: 'a' }));
  await goAway(follower);
  await leader.evaluate(() => window.things.insert({ _id: 'b' }));
  // While the follower rests another takes the lead.
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
