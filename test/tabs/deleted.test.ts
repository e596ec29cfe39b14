import { expect, test } from 'vitest';
import { allAtNight } from '../setup/at-night.ts';
import type { TabScope } from './page/page.ts';
import { browserOfTests, ids, openBrowser, type Tab } from './tabs.ts';

declare const window: TabScope;

const CLIENTS = ['connect', 'Database', 'encrypted', 'opfs'] as const;
type Client = (typeof CLIENTS)[number];

const browser = browserOfTests(openBrowser);

/** How something other than Cairn deletes a database. */
const WAYS = {
  /** As "Delete database" of the devtools does, or other code of the site. */
  deleteDatabase: async () => {
    const page = await browser.watch();
    await page.evaluate(
      (name) =>
        new Promise((resolve, reject) => {
          const request = indexedDB.deleteDatabase(`cairn:${name}`);
          request.onsuccess = resolve;
          request.onerror = reject;
        }).then(() => undefined),
      browser.name,
    );
  },
  /** As "Clear site data" does. */
  clearSiteData: async () => {
    const page = await browser.watch();
    const session = await browser.context.newCDPSession(page);
    const { origin } = new URL(browser.url);
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  },
};

async function open(client: Client, on_deleted: 'fail' | 'start_again'): Promise<Tab> {
  const page = await browser.watch();
  await page.waitForFunction(() => 'connect' in window);
  await page.evaluate(
    async ([client, name, on_deleted]) => {
      const key = new Uint8Array(32).fill(4);
      const storage = {
        ...{ connect: 'indexeddb', opfs: 'opfs', Database: undefined },
        encrypted: window.encrypted('indexeddb', { key }),
      }[client] as 'indexeddb' | undefined;
      const options = { name, storage, on_deleted };
      window.db =
        client === 'Database'
          ? (new window.Database(options) as unknown as TabScope['db'])
          : window.connect(options);
      window.things = new window.db.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
      window.codes = [];
      window.db.on('error', ({ error }) => window.codes.push((error as { code?: string }).code));
      window.shown = window.things.liveCount({});
      window.shown.subscribe(({ data }: { data?: number }) => {
        window.count = data;
      });
      await window.things.insert({});
      await window.db.save();
    },
    [client, browser.name, on_deleted] as const,
  );
  return page;
}

const stateOf = (tab: Tab) =>
  tab.evaluate(() => [window.db.status.state, ...window.codes, window.count]);

for (const [way, deleteAll] of Object.entries(WAYS))
  for (const client of allAtNight<Client>(
    CLIENTS,
    // Files on a busy machine have been seen to tell with the next write alone.
    way === 'deleteDatabase' ? ['connect'] : CLIENTS.filter((client) => client !== 'opfs'),
  )) {
    // Of files the loss of IndexedDB takes nothing.
    if (client === 'opfs' && way === 'deleteDatabase') continue;

    test(`${client}, ${way}: all tabs hear of it at once`, async () => {
      const tabs = [await open(client, 'fail'), await open(client, 'fail')];
      await deleteAll();
      for (const tab of tabs)
        await expect
          .poll(async () => (await stateOf(tab)).slice(0, 2))
          .toEqual(['failed', 'database_destroyed']);
    });

    test(`${client}, ${way}: tabs that ask for it start again`, async () => {
      const tabs = [await open(client, 'start_again'), await open(client, 'start_again')] as const;
      await deleteAll();
      for (const tab of tabs)
        await expect.poll(() => stateOf(tab)).toEqual(['open', 'database_destroyed', 0]);
      for (const [at, tab] of tabs.entries())
        await tab.evaluate((_id) => window.things.insert({ _id }), `${at}`);
      expect(await ids(tabs[0])).toEqual(['0', '1']);
      await tabs[0].close();
      expect(await ids(tabs[1])).toEqual(['0', '1']);
    });
  }

test('opfs, deleteDatabase: the files have everything, and the tab goes on', async () => {
  const tab = await open('opfs', 'fail');
  await WAYS.deleteDatabase();
  await tab.evaluate(() => window.things.insert({ _id: 'a' }).then(() => window.db.save()));
  expect(await stateOf(tab)).toEqual(['open', 2]);
  expect(await tab.evaluate(() => window.db.status.storage)).toBe('opfs');
});
