import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPlayground, PATIENCE, type Playground, runs } from './open-playground.ts';

describe.runIf(runs('chromium'))('speed', () => {
  let site: Playground;

  beforeAll(async () => {
    site = await openPlayground();
    await site.openPanel('Speed');
  });

  afterAll(() => site?.close());

  test('published results are there until a visitor measures', async () => {
    const { page, part } = site;
    expect(await part('racing').innerText()).toBe('Measured by us. Run it on your device.');
    const charts = await page.locator('.chart').allInnerTexts();
    expect(charts).toHaveLength(8);
    expect(charts.filter((chart) => chart.includes('–'))).toEqual([]);
    expect(await part('machine').innerText()).toMatch(/^Chromium \S+ on .+, 10,000 documents\.$/);
  });

  test('four databases run the same work and leave nothing behind', async () => {
    const { page, part } = site;
    const stored = () =>
      page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name));
    await page.getByText('1,000', { exact: true }).click();
    await page.getByText('Once', { exact: true }).click();
    await page.getByRole('button', { name: 'Run' }).click();
    await expect.poll(() => part('racing').innerText(), PATIENCE).toBe('Shorter is better.');
    const charts = await page.locator('.chart').allInnerTexts();
    expect(charts).toHaveLength(8);
    const names = ['Cairn', 'Dexie', 'idb', 'LokiJS'];
    for (const chart of charts) {
      for (const name of names) {
        expect(chart).toMatch(new RegExp(String.raw`${name}\s+(under )?[\d.,]+ [mµ]s`));
      }
    }
    expect(await part('machine').innerText()).toMatch(/^Chrom\w+ \d+ on \w+, \d+ cores/);
    expect((await stored()).filter((name) => name?.includes('race-'))).toEqual([]);
    await site.screenshot('speed');
    expect(await page.getByRole('alert').allInnerTexts()).toEqual(['', '']);
    expect(site.errors).toEqual([]);
  });
});
