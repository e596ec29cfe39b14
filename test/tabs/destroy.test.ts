import { expect, test } from 'vitest';
import { allAtNight } from '../setup/at-night.ts';
import type { TabScope } from './page/page.ts';
import { browserOfTests, ids, leads, openUntouchedBrowser, type Tab } from './tabs.ts';

declare const window: TabScope;

const browser = browserOfTests(openUntouchedBrowser);

const open = (client: 'connect' | 'Database' = 'connect') => browser.tab(client, browser.name);
const destroy = (tab: Tab) => tab.evaluate(() => window.db.destroy());
const insert = (tab: Tab, _id: string) =>
  tab.evaluate(async (_id) => void (await window.things.insert({ _id })), _id);
const codeOf = (tab: Tab) =>
  tab.evaluate(() => window.things.count().catch((error: { code: string }) => error.code));
/** All that the browser keeps of the database. */
const left = (tab: Tab) =>
  tab.evaluate(async (name) => {
    const databases = (await indexedDB.databases()).map((one) => one.name ?? '');
    return [...databases, ...Object.keys(localStorage)].filter((key) => key.includes(name));
  }, browser.name);
/** Connects anew, in a tab whose client is at its end. */
const connectAnew = (tab: Tab) =>
  tab.evaluate(async (name) => {
    window.db = window.connect({ name });
    window.things = new window.db.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
    await window.things.ready;
  }, browser.name);

for (const destroyer of allAtNight(['leader', 'follower'] as const, ['follower'])) {
  test(`the ${destroyer} destroys; the unsaved changes of the other do not come back`, async () => {
    const [leader, follower] = [await open(), await open()];
    await insert(leader, 'a');
    await insert(follower, 'b');
    const [own, other] = destroyer === 'leader' ? [leader, follower] : [follower, leader];
    await destroy(own);
    await expect.poll(() => codeOf(other)).toBe('database_destroyed');
    expect(await left(own)).toEqual([]);
    await other.reload();
    await connectAnew(own);
    expect(await ids(own)).toEqual([]);
    await insert(own, 'new');
    expect(await ids(own)).toEqual(['new']);
  });
}

test('two tabs destroy at once', async () => {
  const [one, other] = [await open(), await open('Database')];
  await insert(one, 'a');
  await insert(other, 'b');
  await Promise.all([destroy(one), destroy(other)]);
  expect(await left(one)).toEqual([]);
  await connectAnew(one);
  expect(await ids(one)).toEqual([]);
});

for (const frozen of allAtNight(['leader', 'follower'] as const, ['leader']))
  for (const isTold of allAtNight([true, false], [true]))
    test(`the frozen ${frozen} brings nothing back, ${isTold ? 'with' : 'without'} the freeze event`, async () => {
      const [leader, follower] = [await open(), await open()];
      await insert(leader, 'a');
      await leader.evaluate(() => window.db.save());
      await insert(leader, 'b');
      await insert(follower, 'c');
      const [sleeper, own] = frozen === 'leader' ? [leader, follower] : [follower, leader];
      const session = await browser.context.newCDPSession(sleeper);
      if (!isTold)
        await sleeper.evaluate(() => {
          const hide = (event: Event) => event.stopPropagation();
          window.addEventListener('freeze', hide, { capture: true });
        });
      await session.send('Page.setWebLifecycleState', { state: 'frozen' });
      await destroy(own);
      await connectAnew(own);
      expect(await ids(own)).toEqual([]);
      await insert(own, 'new');
      await own.evaluate(() => window.db.save());
      await session.send('Page.setWebLifecycleState', { state: 'active' });
      await expect.poll(() => codeOf(sleeper)).toBe('database_destroyed');
      expect(await ids(own)).toEqual(['new']);
      expect(await leads(own)).toBe(true);
      await own.reload();
      await own.waitForFunction(() => 'connect' in window);
      await connectAnew(own);
      expect(await ids(own)).toEqual(['new']);
    });
