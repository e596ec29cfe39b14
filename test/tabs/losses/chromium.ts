import type { Page } from 'playwright-core';
import { makeFolder, removeFolder } from '../../../tools/browsers/child.mjs';
import { launchUntouchedChromium } from '../../../tools/browsers/untouched-chromium.mjs';
import { serveSite } from '../tabs.ts';
import { changeAll, databasesOf, findLosses, type Losses, openAll } from './changes.ts';

type Browser = Awaited<ReturnType<typeof launchUntouchedChromium>>;

/** Ends the pages of a run. */
type End = (tabs: readonly [Page, ...Page[]], run: number) => Promise<unknown>;

const closed = (page: Page) =>
  page.isClosed()
    ? Promise.resolve()
    : new Promise<void>((done) => page.once('close', () => done()));
const close = (page: Page) => Promise.all([closed(page), page.close({ runBeforeUnload: true })]);
/** Up to 200 ms, derived from the number of the run. */
export const later = (run: number) =>
  new Promise((resolve) => setTimeout(resolve, (run * 37) % 200));

/** How pages or the browser end, with the number of pages. */
const ENDINGS: Record<string, { readonly pages: 1 | 2; readonly end: End | 'quit' | 'SIGTERM' }> = {
  reload: { pages: 1, end: ([page]) => page.reload() },
  navigation: { pages: 1, end: ([page]) => page.goto('data:text/html,elsewhere') },
  close: { pages: 1, end: ([page]) => close(page) },
  'window.close': {
    pages: 1,
    end: ([page]) => Promise.all([closed(page), page.evaluate(() => void setTimeout(close))]),
  },
  quit: { pages: 1, end: 'quit' },
  'quit, two tabs': { pages: 2, end: 'quit' },
  SIGTERM: { pages: 1, end: 'SIGTERM' },
  'close two tabs': { pages: 2, end: (pages) => Promise.all(pages.map(close)) },
  'close two tabs, one after the other': {
    pages: 2,
    end: async ([leader, follower], run) => {
      await Promise.all([close(follower as Page), later(run).then(() => close(leader))]);
    },
  },
  'reload two tabs': { pages: 2, end: (pages) => Promise.all(pages.map((page) => page.reload())) },
};

/** A browser whose pages can end in many ways. */
export interface Campaign {
  /** Ends pages once, and opens the databases again. */
  run(ending: string, number: number): Promise<Losses>;
  close(): Promise<void>;
}

/** A Chromium that restarts after it was quit. */
export async function startChromium(): Promise<Campaign> {
  const site = await serveSite();
  const profile = makeFolder('losses');
  let browser: Browser | undefined;

  const start = async () => {
    browser ??= await launchUntouchedChromium({ profile });
    return browser;
  };

  /** A page with the databases of a run. Only a page opened by another may close itself. */
  async function openPage(run: string, mayClose: boolean): Promise<Page> {
    const { context, newPage } = await start();
    let page = await newPage();
    if (mayClose) {
      const opener = page;
      await opener.goto(`${site.url}?opener`);
      [page] = await Promise.all([
        context.waitForEvent('page'),
        opener.evaluate((url) => void window.open(url), site.url),
      ]);
    } else await page.goto(site.url);
    await page.waitForFunction(() => 'connect' in window);
    await page.evaluate(openAll, databasesOf(run));
    return page;
  }

  /** Ends the browser, by its own menu or by a signal to all its processes. */
  async function endBrowser(how: 'quit' | 'SIGTERM'): Promise<void> {
    const ending = browser;
    browser = undefined;
    if (how === 'SIGTERM') ending?.terminate();
    else {
      const session = await ending?.context.browser()?.newBrowserCDPSession();
      // The answer may not come.
      session?.send('Browser.close').catch(() => undefined);
    }
    await ending?.ended;
    await ending?.close();
  }

  return {
    async run(how: string, number: number): Promise<Losses> {
      const { pages, end } = ENDINGS[how] as (typeof ENDINGS)[string];
      const run = `${how} ${number}`;
      const names = ['a', 'b'].slice(0, pages);
      const first = await openPage(run, how === 'window.close');
      const tabs: [Page, ...Page[]] = [first];
      if (pages === 2) tabs.push(await openPage(run, false));
      await Promise.all(tabs.map((tab, index) => tab.evaluate(changeAll, names[index] as string)));
      if (typeof end === 'string') await endBrowser(end);
      else await end(tabs, number);
      const again = await openPage(run, false);
      const losses = await again.evaluate(findLosses, names);
      for (const page of browser?.context.pages() ?? []) await page.close();
      return losses;
    },
    async close() {
      await browser?.close();
      removeFolder(profile);
      await site.close();
    },
  };
}
