import { expect } from 'vitest';
import { makeFolder, removeFolder } from '../../../tools/browsers/child.mjs';
import { launchFirefox } from '../../../tools/browsers/firefox.mjs';
import { serveSite } from '../tabs.ts';
import { changeAll, databasesOf, findLosses, type Losses, openAll } from './changes.ts';
import { type Campaign, later } from './chromium.ts';

type Browser = Awaited<ReturnType<typeof launchFirefox>>;
type Page = Awaited<ReturnType<Browser['newPage']>>;

/** Ends the pages of a run. */
type End = (tabs: readonly Page[], run: number) => Promise<unknown>;

const all = (end: (page: Page) => Promise<unknown>) => (pages: readonly Page[]) =>
  Promise.all(pages.map(end));
const reload = (page: Page) => page.reload();
const close = (page: Page) => page.close();

const ENDINGS: Record<string, { readonly pages: 1 | 2; readonly end: End | 'quit' }> = {
  reload: { pages: 1, end: all(reload) },
  navigation: { pages: 1, end: all((page) => page.goto('data:text/html,elsewhere')) },
  close: { pages: 1, end: all(close) },
  'window.close': {
    pages: 1,
    end: all(async (page) => {
      await page.evaluate('void setTimeout(() => window.close())');
      await expect.poll(() => page.evaluate('"there"').catch(() => 'gone')).toBe('gone');
    }),
  },
  quit: { pages: 1, end: 'quit' },
  'quit, two tabs': { pages: 2, end: 'quit' },
  'close two tabs': { pages: 2, end: all(close) },
  'close two tabs, one after the other': {
    pages: 2,
    end: ([leader, follower], run) =>
      Promise.all([close(follower as Page), later(run).then(() => close(leader as Page))]),
  },
  'reload two tabs': { pages: 2, end: all(reload) },
};

/** A Firefox that restarts after it was quit. */
export async function startFirefox(): Promise<Campaign> {
  const site = await serveSite();
  const profile = makeFolder('losses');
  const preferences = { 'dom.allow_scripts_to_close_windows': true };
  let browser: Browser | undefined;

  const evaluate = <A extends unknown[], T>(page: Page, run: (...args: A) => T, ...args: A) =>
    page.evaluate(`(${run})(...${JSON.stringify(args)})`) as Promise<Awaited<T>>;

  async function openPage(run: string): Promise<Page> {
    browser ??= await launchFirefox({ profile, preferences });
    const page = await browser.newPage(site.url);
    await evaluate(page, openAll, databasesOf(run));
    return page;
  }

  return {
    async run(how: string, number: number): Promise<Losses> {
      const { pages, end } = ENDINGS[how] as (typeof ENDINGS)[string];
      const run = `${how} ${number}`;
      const names = ['a', 'b'].slice(0, pages);
      const tabs = [await openPage(run)];
      if (pages === 2) tabs.push(await openPage(run));
      await Promise.all(tabs.map((tab, index) => evaluate(tab, changeAll, names[index] as string)));
      if (end === 'quit') {
        await browser?.quit();
        browser = undefined;
      } else await end(tabs, number);
      const again = await openPage(run);
      const losses = await evaluate(again, findLosses, names);
      // Some pages are closed already.
      await Promise.allSettled([...tabs, again].map(close));
      return losses;
    },
    async close() {
      await browser?.close();
      removeFolder(profile);
      await site.close();
    },
  };
}
