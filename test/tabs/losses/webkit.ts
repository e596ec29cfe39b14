import { expect, inject } from 'vitest';
import { makeFolder, removeFolder } from '../../../tools/browsers/child.mjs';
import { launchWebKit } from '../../../tools/browsers/webkit.mjs';
import { servePlayground } from '../../e2e/playground-server.ts';
import type { RemotePage } from '../../e2e/remote-page.ts';
import type { TabScope } from '../page/page.ts';
import { changeAll, databasesOf, findLosses, type Losses, openAll } from './changes.ts';
import { type Campaign, later } from './chromium.ts';

declare const window: TabScope;

/** Ends the pages of a run. */
type End = (tabs: readonly RemotePage[], run: number) => unknown;

const close = (page: RemotePage) => page.close();
const reload = (page: RemotePage) => page.reload();

/**
 * How pages end, with the number of pages. A test cannot press the close button of a tab: for the
 * last tab, `quit` does the same.
 */
const ENDINGS: Record<string, { readonly pages: 1 | 2; readonly end: End | 'quit' }> = {
  reload: { pages: 1, end: (tabs) => tabs.forEach(reload) },
  navigation: { pages: 1, end: ([tab]) => tab?.leave() },
  'window.close': { pages: 1, end: (tabs) => tabs.forEach(close) },
  quit: { pages: 1, end: 'quit' },
  'quit, two tabs': { pages: 2, end: 'quit' },
  'close two tabs': { pages: 2, end: (tabs) => tabs.forEach(close) },
  'close two tabs, one after the other': {
    pages: 2,
    end: async ([leader, follower], run) => {
      follower?.close();
      await later(run);
      leader?.close();
    },
  },
  'reload two tabs': { pages: 2, end: (tabs) => tabs.forEach(reload) },
};

/** A MiniBrowser of WebKitGTK that restarts after it was quit. */
export async function startWebKit(): Promise<Campaign> {
  const site = await servePlayground(inject('tabPage'));
  const profile = makeFolder('losses');
  const browser = await launchWebKit({ profile });
  const [opener, ...remotes] = site.remotes;
  const [openerUrl, ...urls] = site.remoteUrls;
  let isRunning = false;

  /** Opens pages: from a lasting page, if they have to close themselves, or as the user. */
  async function openPages(count: number, byUser: boolean): Promise<RemotePage[]> {
    if (byUser) await browser.openTabs(urls.slice(0, count));
    else {
      if (!isRunning) await browser.openTabs([openerUrl]);
      await opener.evaluate(
        (urls) => {
          window.pages = urls.map((url) => window.open(url));
        },
        urls.slice(0, count),
      );
    }
    isRunning = true;
    return remotes.slice(0, count);
  }

  /** Whether all pages opened by the lasting page have closed. */
  const areClosed = () => opener.evaluate(() => window.pages.every((page: Window) => page.closed));

  return {
    async run(how: string, number: number): Promise<Losses> {
      const { pages, end } = ENDINGS[how] as (typeof ENDINGS)[string];
      const databases = databasesOf(`${how} ${number}`);
      const names = ['a', 'b'].slice(0, pages);
      if (end === 'quit' && isRunning) await browser.quit();
      const tabs = await openPages(pages, end === 'quit');
      for (const tab of tabs) await tab.evaluate(openAll, databases);
      await Promise.all(tabs.map((tab, index) => tab.evaluate(changeAll, names[index] as string)));
      if (end === 'quit') {
        await browser.quit();
        isRunning = false;
      } else await end(tabs, number);
      if (how.includes('close')) await expect.poll(areClosed).toBe(true);
      const isReload = how.includes('reload');
      const [again] = isReload ? tabs : await openPages(1, false);
      await again?.evaluate(openAll, databases);
      const losses = await again?.evaluate(findLosses, names);
      for (const page of isReload ? tabs : [again]) page?.close();
      await expect.poll(areClosed).toBe(true);
      return losses as Losses;
    },
    async close() {
      await browser.close();
      removeFolder(profile);
      await site.close();
    },
  };
}
