import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { launchWebKit } from '../../tools/browsers/webkit.mjs';
import { runs } from '../e2e/open-playground.ts';
import { servePlayground } from '../e2e/playground-server.ts';
import type { RemotePage } from '../e2e/remote-page.ts';
import { testAtNight } from '../setup/at-night.ts';
import type { TabScope } from './page/page.ts';
import { clients, openDatabase } from './tabs.ts';

declare const window: TabScope;

type Client = 'connect' | 'Database';

let site: Awaited<ReturnType<typeof servePlayground>>;
let browser: Awaited<ReturnType<typeof launchWebKit>>;

const open = (tab: RemotePage, client: Client) =>
  tab.evaluate(openDatabase, [client, 'shared'] as const);
const ids = (tab: RemotePage) =>
  tab.evaluate(async () =>
    (await window.things.filter({})).map((one: { _id: string }) => one._id).sort(),
  );
/** No automatic save for an hour: changes kept afterwards were written as the page ended. */
const insert = (tab: RemotePage, names: readonly string[]) =>
  tab.evaluate(async (names) => {
    await window.things.insertMany(names.map((_id) => ({ _id, at: new Date(0) })));
  }, names);

const NAMES = Array.from({ length: 500 }, (_, n) => `n${n}`).sort();

describe.runIf(runs('webkit'))('WebKit', () => {
  beforeEach(async () => {
    site = await servePlayground(inject('tabPage'));
    browser = await launchWebKit();
  });

  afterEach(async () => {
    await browser.close();
    await site.close();
  });

  test.for(clients)('%s: a reload keeps acknowledged changes', async (client) => {
    const [tab] = site.remotes;
    await browser.openTabs([site.remoteUrls[0]]);
    await open(tab, client);
    await insert(tab, NAMES);
    tab.reload();
    await open(tab, client);
    expect(await ids(tab)).toEqual(NAMES);
    // The changes are durable by now, and no recovery record is left.
    const journals = () => Object.keys(localStorage).filter((key) => key.startsWith('cairn:'));
    await expect.poll(() => tab.evaluate(journals)).toEqual([]);
    expect(await tab.evaluate(() => window.things.get('n1'))).toMatchObject({
      at: new Date(0).toJSON(),
    });
  });

  test('connect: the engine begins no write for a second as the page may be reloaded', async () => {
    const [tab] = site.remotes;
    await browser.openTabs([site.remoteUrls[0]]);
    await open(tab, 'connect');
    const passed = await tab.evaluate(async () => {
      dispatchEvent(new Event('beforeunload'));
      const began = performance.now();
      await window.things.insert({});
      await window.things.save();
      return performance.now() - began;
    });
    // Timers may be early by a little.
    expect(passed).toBeGreaterThan(900);
    expect(await tab.evaluate(() => window.db.status.unsaved)).toBe(0);
  });

  test.for(clients)(
    '%s: the other tab has the acknowledged changes of a tab that went to another site, once',
    async (client) => {
      const [first, second] = site.remotes;
      await browser.openTabs(site.remoteUrls.slice(0, 2));
      await open(first, client);
      await insert(first, NAMES);
      await first.evaluate(() => window.numbers.set('all', []));
      await first.evaluate(() => window.numbers.push('all', 1));
      await open(second, client);
      first.leave();
      await expect.poll(() => second.evaluate(() => window.db.status.leader)).toBe(true);
      expect(await ids(second)).toEqual(NAMES);
      expect(await second.evaluate(() => window.numbers.get('all'))).toEqual([1]);
    },
  );

  testAtNight?.for(clients)(
    '%s: the opener has the acknowledged changes of a tab that closed itself, once',
    async (client) => {
      const [first, second] = site.remotes;
      await browser.openTabs([site.remoteUrls[0]]);
      await first.evaluate((url) => window.open(url) !== null, site.remoteUrls[1]);
      await open(second, client);
      await insert(second, NAMES);
      await second.evaluate(() => window.numbers.set('all', []));
      await second.evaluate(() => window.numbers.push('all', 1));
      await open(first, client);
      second.close();
      await expect.poll(() => first.evaluate(() => window.db.status.leader)).toBe(true);
      expect(await ids(first)).toEqual(NAMES);
      expect(await first.evaluate(() => window.numbers.get('all'))).toEqual([1]);
    },
  );
});
