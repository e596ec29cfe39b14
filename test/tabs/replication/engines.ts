import { expect, inject } from 'vitest';
import { launchChromium } from '../../../tools/browsers/chromium.mjs';
import { launchFirefox } from '../../../tools/browsers/firefox.mjs';
import { launchWebKit } from '../../../tools/browsers/webkit.mjs';
import { servePlayground } from '../../e2e/playground-server.ts';
import type { TabScope } from '../page/page.ts';
import { crash, serveSite } from '../tabs.ts';

declare const window: TabScope;

/** A tab of any browser. */
export interface AnyTab {
  /** Calls a function in the page, with arguments and a result that JSON can represent. */
  run<A extends unknown[], T>(run: (...args: A) => T, ...args: A): Promise<Awaited<T>>;
  close(): Promise<unknown>;
  /** Ends the process of the page, where the browser can do that. */
  readonly crash?: () => Promise<unknown>;
}

/** A browser whose tabs share an origin. */
export interface AnyBrowser {
  open(): Promise<AnyTab>;
  /** Takes the network from all tabs, where the browser can do that. */
  readonly setOffline?: (isOffline: boolean) => Promise<void>;
  close(): Promise<unknown>;
}

const textOf = (run: unknown, args: unknown[]): string => `(${run})(...${JSON.stringify(args)})`;

async function openChromium(): Promise<AnyBrowser> {
  const [site, browser] = await Promise.all([serveSite(), launchChromium()]);
  return {
    async open() {
      const page = await browser.newPage(site.url);
      await page.waitForFunction(() => 'connect' in window);
      return {
        run: (run, ...args) => page.evaluate(textOf(run, args)),
        close: () => page.close(),
        crash: async () => {
          await crash(page);
          await page.close();
        },
      };
    },
    setOffline: (isOffline) => browser.context.setOffline(isOffline),
    async close() {
      await browser.close();
      await site.close();
    },
  };
}

async function openFirefox(): Promise<AnyBrowser> {
  const [site, browser] = await Promise.all([serveSite(), launchFirefox()]);
  return {
    async open() {
      const page = await browser.newPage(site.url);
      return { run: (run, ...args) => page.evaluate(textOf(run, args)), close: page.close };
    },
    async close() {
      await browser.close();
      await site.close();
    },
  };
}

/** Only a page opened by another may close itself: the first one opens the others. */
async function openWebKit(): Promise<AnyBrowser> {
  const [site, browser] = await Promise.all([servePlayground(inject('tabPage')), launchWebKit()]);
  const [opener, ...remotes] = site.remotes;
  const [openerUrl, ...urls] = site.remoteUrls;
  await browser.openTabs([openerUrl]);
  await opener.evaluate(() => {
    window.pages = [];
  });
  const free = [...remotes.entries()];
  return {
    async open() {
      const page = free.shift();
      if (!page) throw new Error('No page is left to open.');
      const [number, remote] = page;
      await opener.evaluate(
        (at, url) => {
          window.pages[at] = window.open(url);
        },
        number,
        urls[number] as string,
      );
      return {
        run: (run, ...args) => remote.evaluate(run, ...args),
        async close() {
          remote.close();
          const isClosed = () => opener.evaluate((at) => window.pages[at].closed, number);
          await expect.poll(isClosed).toBe(true);
          free.push(page);
        },
      };
    },
    async close() {
      await browser.close();
      await site.close();
    },
  };
}

export const engines: Readonly<Record<string, () => Promise<AnyBrowser>>> = {
  chromium: openChromium,
  firefox: openFirefox,
  webkit: openWebKit,
};
