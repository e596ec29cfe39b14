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

/** Each as high as its panels, so that what moves below the fold is seen, too. */
const SCREENS = [
  { width: 360, height: 5200, colorScheme: 'dark', line: SLOW_LINE },
  { width: 1920, height: 3200, colorScheme: 'light', line: undefined },
] as const;

const MINUTE = 60_000;

const everythingOf = (url: string) => ({ origin: new URL(url).origin, storageTypes: 'all' });

describe.runIf(runs('chromium'))('nothing moves', () => {
  for (const { width, height, colorScheme, line } of SCREENS) {
    test.concurrent(
      `in any panel, ${width} wide and ${colorScheme}: as it opens, all through a long visit, without a network`,
      async () => {
        const site = await openPlayground();
        try {
          const { page, browser } = site;
          await page.setViewportSize({ width, height });
          await page.emulateMedia({ colorScheme });
          const { shifts, say } = await watchShifts(page);
          const network = await browser.context.newCDPSession(page);
          if (line) await network.send('Network.emulateNetworkConditions', line);
          for (const panel of Object.keys(LONG_VISIT)) {
            await say(`${panel} for the first time`);
            await page.goto('about:blank');
            await network.send('Storage.clearDataForOrigin', everythingOf(site.url));
            await network.send('Network.clearBrowserCache');
            await open(site, panel);
          }
          await network.detach();
          for (const [panel, visit] of Object.entries(LONG_VISIT)) {
            await say(`${panel} again`);
            await open(site, panel);
            await visit(site, (step) => say(`${panel}: ${step}`));
          }
          await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
          await say('going offline');
          await browser.context.setOffline(true);
          for (const panel of Object.keys(LONG_VISIT)) {
            await say(`${panel} without a network`);
            await open(site, panel);
          }
          await say('the end');
          expect(shifts).toEqual([]);
        } finally {
          await site.close();
        }
      },
      5 * MINUTE,
    );
  }
});

async function open({ page, url }: Playground, panel: string): Promise<void> {
  await page.goto('about:blank');
  const id = panel === 'Start' ? '' : panel.toLowerCase().replace(' ', '-');
  await page.goto(`${url}#/${id}`);
  await page.waitForFunction((title) => document.title === `${title} · Cairn`, panel);
  // With all that is loaded for it, and asked at first.
  await page.waitForLoadState('networkidle');
}
