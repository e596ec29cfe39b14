import { describe, expect, test } from 'vitest';
import { watchShifts } from './layout-shifts.ts';
import { LONG_VISIT } from './long-visit.ts';
import { openPlayground, type Playground, runs } from './open-playground.ts';

/** A phone on the way. */
const SLOW_LINE = {
  offline: false,
  latency: 40,
  downloadThroughput: 400_000,
  uploadThroughput: 400_000,
};

const PANELS = Object.keys(LONG_VISIT);
/**
 * Each as high as its panels, to see shifts below the fold, too. Both have all visits but for Speed
 * on the phone, which looks the same; the phone has those without a network.
 */
const SCREENS = [
  {
    title: '360 wide and dark, over a slow line',
    size: { width: 360, height: 5200 },
    colorScheme: 'dark',
    line: SLOW_LINE,
    visited: PANELS.filter((panel) => panel !== 'Speed'),
    offline: PANELS,
  },
  {
    title: '1280 wide and light',
    size: { width: 1280, height: 3200 },
    colorScheme: 'light',
    line: undefined,
    visited: PANELS,
    offline: [],
  },
] as const;

const MINUTE = 60_000;

const everythingOf = (url: string) => ({ origin: new URL(url).origin, storageTypes: 'all' });

describe.runIf(runs('chromium'))('no layout shift', () => {
  for (const { title, size, colorScheme, line, visited, offline } of SCREENS) {
    test.concurrent(
      `in any panel, ${title}: as it opens and during a long visit`,
      async () => {
        const site = await openPlayground();
        try {
          const { page, browser } = site;
          await page.setViewportSize(size);
          await page.emulateMedia({ colorScheme });
          const { shifts, say } = await watchShifts(page);
          const network = await browser.context.newCDPSession(page);
          if (line) await network.send('Network.emulateNetworkConditions', line);
          for (const panel of PANELS) {
            await say(`${panel} for the first time`);
            await page.goto('about:blank');
            await network.send('Storage.clearDataForOrigin', everythingOf(site.url));
            await network.send('Network.clearBrowserCache');
            await open(site, panel);
          }
          await network.detach();
          for (const panel of visited) {
            await say(`${panel} again`);
            await open(site, panel);
            await LONG_VISIT[panel]?.(site, (step) => say(`${panel}: ${step}`));
          }
          await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
          await say('going offline');
          await browser.context.setOffline(true);
          for (const panel of offline) {
            await say(`${panel} without a network`);
            await open(site, panel);
          }
          await say('the end');
          expect(shifts).toEqual([]);
        } finally {
          await site.close();
        }
      },
      20 * MINUTE,
    );
  }
});

async function open({ page, url }: Playground, panel: string): Promise<void> {
  await page.goto('about:blank');
  const id = panel === 'Start' ? '' : panel.toLowerCase().replace(' ', '-');
  await page.goto(`${url}#/${id}`);
  await page.waitForFunction((title) => document.title === `${title} · Cairn`, panel);
  // With its code and its first answer. Its frame follows: Chromium reports no end of the shared
  // worker's load.
  if (panel === 'Transactions') await page.frameLocator('iframe').getByRole('button').waitFor();
  else await page.waitForLoadState('networkidle');
}
