import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPlayground, PATIENCE, type Playground, runs } from './open-playground.ts';

describe.runIf(runs('chromium'))('search', () => {
  let site: Playground;

  beforeAll(async () => {
    site = await openPlayground();
    await site.loadCities();
    await site.openPanel('Search');
  });

  afterAll(() => site?.close());

  test('hits follow what is typed, with errors forgiven and matches marked', async () => {
    const { page, part } = site;
    const hits = () => part('search').getByRole('listitem');
    const marks = () => part('search').locator('mark').allInnerTexts();
    await expect.poll(() => part('search').innerText(), PATIENCE).toMatch(/Search \d{3} sections/);
    await page.getByRole('searchbox').fill('frozen leadr');
    await expect.poll(() => hits().count(), PATIENCE).toBeGreaterThan(0);
    await expect
      .poll(async () => (await marks()).join(' ').toLowerCase(), PATIENCE)
      .toMatch(/frozen.*leader|leader.*frozen/);
    await site.screenshot('search');
    await page.getByRole('searchbox').fill('qqqqqq');
    await expect.poll(() => hits().count(), PATIENCE).toBe(0);
    expect(site.errors).toEqual([]);
  });

  test('cities are found by an index that is declared later', async () => {
    const { page, part } = site;
    await page.getByRole('radio', { name: 'Cities' }).check({ force: true });
    await expect
      .poll(() => part('search').innerText(), PATIENCE)
      .toContain('Search 135,233 cities');
    await expect
      .poll(() => part('search').locator('mark').allInnerTexts(), PATIENCE)
      .toContain('Francisco');
    expect(site.errors).toEqual([]);
  });
});
