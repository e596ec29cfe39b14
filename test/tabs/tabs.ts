import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject } from 'vitest';
import { launchChromium } from '../../tools/browsers/chromium.mjs';
import { launchUntouchedChromium } from '../../tools/browsers/untouched-chromium.mjs';
import { serveFolder } from '../package/static-server.ts';
import { allAtNight } from '../setup/at-night.ts';
import type { TabScope } from './page/page.ts';

declare const window: TabScope;

export type Site = Awaited<ReturnType<typeof serveFolder>>;

/** The server of all browsers of a test; a restarted browser needs the same one. */
export const serveSite = () => serveFolder(inject('tabPage'));

/**
 * The client of a tab; `opfs`: `connect()` with its data in files; `encrypted`: in IndexedDB,
 * `encrypted opfs`: in files.
 */
export type TabClient = 'connect' | 'Database' | 'opfs' | 'encrypted' | 'encrypted opfs';

/** The engine is in a worker; at night tests run with the one in the page as well. */
export const clients = allAtNight(['connect', 'Database'] as const, ['connect'] as const);

/** The clients of two tabs: of the leader, and of the follower. */
export const PAIRS = [
  ['connect', 'connect'],
  ['Database', 'connect'],
  ['connect', 'Database'],
] as const;

export interface BrowserOptions {
  /** By default its own server, which ends with it. */
  readonly site?: Site;
  readonly profile?: string;
}

/** A Chromium whose pages share an origin. */
export async function openBrowser() {
  return shareOrigin(await launchChromium(), undefined);
}

/** Pages of such a host have no Web Locks: only `https://` and this machine count as secure. */
const INSECURE_HOST = 'cairn.test';

/** A Chromium whose pages come over `http://` from a seemingly remote machine. */
export async function openInsecureBrowser() {
  const site = await serveSite();
  const args = [`--host-resolver-rules=MAP ${INSECURE_HOST} 127.0.0.1`];
  const browser = await shareOrigin(await launchChromium({ args }), {
    ...site,
    url: site.url.replace('127.0.0.1', INSECURE_HOST),
  });
  return {
    ...browser,
    close: async () => {
      await browser.close();
      await site.close();
    },
  };
}

/** A Chromium that can be killed, whose pages can be frozen and go to the back/forward cache. */
export async function openUntouchedBrowser({ site, ...options }: BrowserOptions = {}) {
  const browser = await launchUntouchedChromium(options);
  return { ...(await shareOrigin(browser, site)), kill: browser.kill };
}

async function shareOrigin(
  browser: Awaited<ReturnType<typeof launchChromium | typeof launchUntouchedChromium>>,
  given: Site | undefined,
) {
  const site = given ?? (await serveSite());
  const errors: string[] = [];
  const tabs = new Set<Page>();
  /** A page of the site without a database. */
  const watch = async () => {
    const page = await browser.newPage();
    tabs.add(page);
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    await page.goto(site.url);
    return page;
  };
  return {
    url: site.url,
    watch,
    /** Errors of pages. */
    errors,
    context: browser.context,
    /** A tab with an open database. */
    async tab(client: TabClient = 'connect', name = 'shared') {
      const page = await watch();
      await page.waitForFunction(() => 'connect' in window);
      await page.evaluate(openDatabase, [client, name] as const);
      return page;
    },
    /** Closes all tabs, so that one browser serves several tests. */
    async closeTabs() {
      await Promise.all(Array.from(tabs, (tab) => tab.close()));
      tabs.clear();
    },
    async close() {
      await browser.close();
      if (!given) await site.close();
    },
  };
}

export type TabBrowser = Awaited<ReturnType<typeof openBrowser>>;
export type UntouchedBrowser = Awaited<ReturnType<typeof openUntouchedBrowser>>;
export type Tab = Awaited<ReturnType<TabBrowser['tab']>>;

/**
 * The browser of a file's tests. Each test has a name for its database, and its tabs close behind
 * it.
 *
 * @param mayFail Whether pages may report errors.
 */
export function browserOfTests<Browser extends TabBrowser>(
  open: () => Promise<Browser>,
  { mayFail = false } = {},
): Browser & { readonly name: string } {
  const browser = { name: '' } as Browser & { name: string };
  let count = 0;
  beforeAll(async () => void Object.assign(browser, await open()));
  beforeEach(() => {
    browser.name = `test ${++count}`;
  });
  afterEach(() => browser.closeTabs());
  afterAll(async () => {
    await browser.close();
    if (!mayFail) expect(browser.errors).toEqual([]);
  });
  return browser;
}

export const leads = (tab: Tab) => tab.evaluate(() => window.db.status.leader);

/** Waits until one of the tabs that are alive leads. */
export async function findLeader<T extends { readonly tab: Tab }>(
  alive: () => readonly T[],
): Promise<T> {
  for (;;) {
    for (const one of alive()) {
      // A crashed tab does not answer.
      if (await leads(one.tab).catch(() => false)) return one;
    }
  }
}

/** The ids of all documents, as a tab finds them, sorted. */
export const ids = (tab: Tab) =>
  tab.evaluate(async () =>
    (await window.things.filter({})).map((one: { _id: string }) => one._id).sort(),
  );

/** Crashes the renderer of a tab. The page can only be closed afterwards. */
export async function crash(tab: Tab): Promise<void> {
  const crashed = tab.waitForEvent('crash', { timeout: 120_000 });
  // The navigation never completes.
  tab.goto('chrome://crash').catch(() => undefined);
  await crashed;
}

/** Runs in a page: opens the client of a test. */
export async function openDatabase([client, name]: readonly [TabClient, string]) {
  const scope = window;
  const seldomSaved = { save_timeout: 3600, save_directly_after: 1_000_000 };
  const inner = client.endsWith('opfs') ? 'opfs' : 'indexeddb';
  const key = new Uint8Array(32).fill(4);
  const where = client.startsWith('encrypted') ? scope.encrypted(inner, { key }) : inner;
  scope.db =
    client === 'Database'
      ? (new scope.Database({ name }) as TabScope['db'])
      : scope.connect({ name, storage: where });
  scope.things = new scope.db.Collection({
    name: 'things',
    type: 'DOCUMENT_BASED',
    ...seldomSaved,
  });
  scope.numbers = new scope.db.Collection({
    name: 'numbers',
    type: 'KEY_VALUE_BASED',
    ...seldomSaved,
  });
  await Promise.all([scope.things.ready, scope.numbers.ready]);
  const { storage, storage_reason: why } = scope.db.status;
  if (inner === 'opfs' && storage !== 'opfs') throw new Error(`The storage is ${storage}: ${why}`);
}

/** Runs in a page: an endless transaction of a worker, like a large save. */
export async function writeAllTheTime(name: string): Promise<void> {
  const source = `
    const opening = indexedDB.open(${JSON.stringify(`cairn:${name}`)});
    opening.onsuccess = () => {
      const stores = ['collections', 'segments', 'bodies', 'snapshots', 'leadership'];
      const store = opening.result.transaction(stores, 'readwrite').objectStore('segments');
      const write = () => { store.put(0, ['none', 0]).onsuccess = write; };
      write();
      postMessage('');
    };`;
  const worker = new Worker(URL.createObjectURL(new Blob([source])));
  await new Promise((resolve) => {
    worker.onmessage = resolve;
  });
}
