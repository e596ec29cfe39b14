import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { launchFirefox } from '../../tools/browsers/firefox.mjs';
import { runs } from '../e2e/open-playground.ts';
import { testAtNight } from '../setup/at-night.ts';
import type { TabScope } from './page/page.ts';
import { clients, openDatabase, type Site, serveSite, writeAllTheTime } from './tabs.ts';

declare const window: TabScope;

let site: Site;
let browser: Awaited<ReturnType<typeof launchFirefox>>;
let name = 0;
/** Pages of the current test. Open pages keep the process of later ones alive. */
let tabs: Tab[] = [];

type Client = 'connect' | 'Database';
type Page = Awaited<ReturnType<typeof browser.newPage>>;

interface Tab extends Page {
  /** Calls a function in the page, with arguments and a result that JSON can represent. */
  run<T, A extends unknown[]>(run: (...args: A) => T, ...args: A): Promise<Awaited<T>>;
}

async function open(client: Client): Promise<Tab> {
  const page = await browser.newPage(site.url);
  const tab: Tab = {
    ...page,
    close: async () => {
      tabs = tabs.filter((one) => one !== tab);
      await page.close();
    },
    run: (run, ...args) => page.evaluate(`(${run})(...${JSON.stringify(args)})`),
  };
  tabs.push(tab);
  await tab.run(openDatabase, [client, `test ${name}`] as const);
  return tab;
}

/** Connects a page to a server, which notices the end of the page. */
async function connectTo(tab: Tab): Promise<{ readonly gone: Promise<void> }> {
  const server = createServer((_request, response) => response.write(' '));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const asked = once(server, 'request');
  await tab.run(
    (port) => {
      void fetch(`http://127.0.0.1:${port}/`, { mode: 'no-cors' });
    },
    (server.address() as AddressInfo).port,
  );
  const [, response] = await asked;
  return { gone: once(response, 'close').then(() => void server.close()) };
}

const leads = (tab: Tab) => tab.run(() => window.db.status.leader);
const insert = (tab: Tab, ids: readonly string[]) =>
  tab.run(async (names) => {
    await window.things.insertMany(names.map((_id) => ({ _id })));
  }, ids);
const ids = (tab: Tab) =>
  tab.run(async () =>
    (await window.things.filter({})).map((one: { _id: string }) => one._id).sort(),
  );

describe.runIf(runs('firefox'))('Firefox', () => {
  beforeAll(async () => {
    site = await serveSite();
    browser = await launchFirefox();
  });

  beforeEach(() => {
    name++;
  });

  afterEach(async () => {
    for (const tab of tabs) await tab.close();
  });

  afterAll(async () => {
    await browser.close();
    await site.close();
  });

  test.for(clients)('%s: two tabs are one database', async (client) => {
    const first = await open(client);
    const second = await open(client);
    expect([await leads(first), await leads(second)]).toEqual([true, false]);
    await insert(first, ['a']);
    await insert(second, ['b']);
    expect(await ids(first)).toEqual(['a', 'b']);
    expect(await ids(second)).toEqual(['a', 'b']);
    // The next leader gets unsaved changes from the client that replays them, or from the page's
    // recovery record.
    await first.close();
    expect(await ids(second)).toEqual(['a', 'b']);
    // On a busy machine the closed page may have answered.
    await expect.poll(() => leads(second)).toBe(true);
    expect(await ids(second)).toEqual(['a', 'b']);
  });

  test.for(clients)('%s: a reload keeps acknowledged changes', async (client) => {
    const tab = await open(client);
    await insert(tab, ['a', 'b']);
    await tab.reload();
    expect(await ids(await open(client))).toEqual(['a', 'b']);
  });

  testAtNight?.(
    'acknowledged changes are kept, although the worker was writing all the time',
    async () => {
      const tab = await open('connect');
      await tab.run(writeAllTheTime, `test ${name}`);
      await insert(tab, ['told']);
      await tab.reload();
      expect(await ids(await open('connect'))).toEqual(['told']);
    },
  );

  test.for(clients)(
    '%s: acknowledged changes are kept, although the script ended during their write',
    async (client) => {
      const tab = await open(client);
      await tab.run(writeAllTheTime, `test ${name}`);
      await insert(tab, ['told']);
      await tab.run(() => {
        const { setItem } = Storage.prototype;
        // Firefox ends running scripts when it closes the last tab of a site: here, for sure.
        Storage.prototype.setItem = function (...item) {
          Storage.prototype.setItem = setItem;
          const end = performance.now() + 2000;
          while (performance.now() < end);
          setItem.apply(this, item);
        };
      });
      const { gone } = await connectTo(tab);
      await tab.close();
      // A tab opened earlier may keep the process, so that no script ends.
      await gone;
      expect(await ids(await open(client))).toEqual(['told']);
    },
  );

  testAtNight?.('a save is atomic, although its script ended in the middle', async () => {
    const tab = await open('Database');
    await tab.run(async () => {
      // Several segments.
      const many = Array.from({ length: 1000 }, () => ({ text: 'x'.repeat(300) }));
      await window.things.insertMany(many);
      const { put } = IDBObjectStore.prototype;
      IDBObjectStore.prototype.put = function (...item) {
        const request = put.apply(this, item);
        const end = performance.now() + (this.name === 'segments' ? 2000 : 0);
        while (performance.now() < end);
        return request;
      };
    });
    await tab.close();
    expect(await ids(await open('Database'))).toHaveLength(1000);
  });

  // Each time in Chromium.
  testAtNight?.for(clients)(
    '%s: a leader in the back/forward cache resigns, and follows after its return',
    async (client) => {
      const first = await open(client);
      const second = await open(client);
      await insert(first, ['a']);
      await first.goto(`${site.url}?elsewhere`);
      await insert(second, ['b']);
      expect(await leads(second)).toBe(true);
      await first.goBack();
      // Firefox restores it from the cache or reloads it.
      await expect.poll(() => first.run(() => 'connect' in window)).toBe(true);
      if (!(await first.run(() => 'db' in window))) {
        await first.run(openDatabase, [client, `test ${name}`] as const);
      }
      await insert(first, ['c']);
      expect(await ids(first)).toEqual(['a', 'b', 'c']);
      expect(await ids(second)).toEqual(['a', 'b', 'c']);
      expect([await leads(first), await leads(second)]).toEqual([false, true]);
    },
  );
});
