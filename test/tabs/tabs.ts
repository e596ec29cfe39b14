import { inject } from 'vitest';
import { launchChromium } from '../../tools/browsers/chromium.mjs';
import { serveFolder } from '../package/static-server.ts';
import type { TabScope } from './page/page.ts';

declare const window: TabScope;

/** A Chromium whose pages share an origin. */
export async function openBrowser() {
  const site = await serveFolder(inject('tabPage'));
  const browser = await launchChromium();
  const errors: string[] = [];
  return {
    url: site.url,
    /** What pages complained about. */
    errors,
    context: browser.context,
    /** A tab with a database that is open. */
    async tab(door: 'connect' | 'Database' = 'connect', name = 'shared') {
      const page = await browser.newPage();
      page.on('pageerror', (error) => errors.push(String(error)));
      page.on('console', (message) => {
        if (message.type() === 'error') errors.push(message.text());
      });
      await page.goto(site.url);
      await page.waitForFunction(() => 'connect' in window);
      await page.evaluate(openDatabase, [door, name] as const);
      return page;
    },
    async close() {
      await browser.close();
      await site.close();
    },
  };
}

export type TabBrowser = Awaited<ReturnType<typeof openBrowser>>;
export type Tab = Awaited<ReturnType<TabBrowser['tab']>>;

async function openDatabase([door, name]: readonly ['connect' | 'Database', string]) {
  const scope = window;
  scope.db =
    door === 'connect' ? scope.connect({ name }) : (new scope.Database({ name }) as TabScope['db']);
  scope.things = new scope.db.Collection({
    name: 'things',
    type: 'DOCUMENT_BASED',
    save_timeout: 3600,
  });
  await scope.things.ready;
}
