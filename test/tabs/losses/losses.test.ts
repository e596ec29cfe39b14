import { loadavg } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runs } from '../../e2e/open-playground.ts';
import { allAtNight } from '../../setup/at-night.ts';
import { type Campaign, startChromium } from './chromium.ts';
import { startFirefox } from './firefox.ts';
import { startWebKit } from './webkit.ts';

/**
 * `LOSSES=100 npx vitest run --project tabs losses` ends the pages of each browser a hundred times
 * in each way.
 */
const RUNS = Number(process.env.LOSSES ?? 1);
/** `ENDINGS='quit;reload'` runs these alone. */
const only = process.env.ENDINGS?.split(';');
/**
 * By default only the ways that no other test covers, and whose outcome does not depend on load.
 */
const FEW = allAtNight(
  ['window.close', 'close two tabs, one after the other', 'reload two tabs'],
  ['close two tabs, one after the other'],
);

const campaigns = {
  chromium: startChromium,
  firefox: startFirefox,
  webkit: startWebKit,
} satisfies Record<string, () => Promise<Campaign>>;
type Browser = keyof typeof campaigns;
const ALL: readonly Browser[] = ['chromium', 'firefox', 'webkit'];
/** firefox.test.ts and webkit.test.ts end their pages each time. */
const BROWSERS = process.env.LOSSES ? ALL : allAtNight<Browser>(ALL, ['chromium']);
const common = [
  ...['reload', 'navigation', 'close', 'window.close', 'quit', 'quit, two tabs'],
  ...['close two tabs', 'close two tabs, one after the other', 'reload two tabs'],
];
const endings: Record<Browser, readonly string[]> = {
  chromium: [...common, 'SIGTERM'],
  firefox: common,
  webkit: common.filter((ending) => ending !== 'close'),
};

for (const name of BROWSERS)
  describe.runIf(runs(name))(name, () => {
    let campaign: Campaign;
    beforeAll(async () => {
      campaign = await campaigns[name]();
    });
    afterAll(() => campaign.close());

    const isAsked = (ending: string) =>
      only?.includes(ending) ?? (process.env.LOSSES ? true : FEW.includes(ending));

    test.for(endings[name].filter(isAsked))(
      '%s: no acknowledged change is lost',
      { timeout: 60_000 * RUNS },
      async (ending) => {
        /** The number of runs with losses, by client and kind of change. */
        const lossy: Record<string, number> = {};
        for (let run = 0; run < RUNS; run++)
          for (const [cell, count] of Object.entries(await campaign.run(ending, run)))
            lossy[cell] = (lossy[cell] ?? 0) + (count > 0 ? 1 : 0);
        if (process.env.LOSSES)
          console.log(
            `${name}, ${ending}, ${RUNS} runs, load ${loadavg()[0]}: ${JSON.stringify(lossy)}`,
          );
        expect(Object.entries(lossy).filter(([, count]) => count > 0)).toEqual([]);
      },
    );
  });
