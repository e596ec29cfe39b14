import type { Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPlayground, PATIENCE, type Playground, runs } from './open-playground.ts';

const FULL = 150;

describe.runIf(runs('chromium'))('transactions', () => {
  let site: Playground;
  let tabs: readonly Page[];

  const shown = async (place: Page | Frame, part: string) =>
    place.locator(`[data-part="${part}"]`).innerText();
  const figure = async (tab: Page, part: string) => Number(await shown(tab, part));
  const press = (name: string) => site.page.getByRole('button', { name }).first().click();
  const pick = (name: string) => site.page.getByText(name, { exact: true }).click();

  /** Both tabs, each with its frame. */
  const places = () => tabs.flatMap((tab) => tab.frames());

  /** Waits until every tab shows a figure. */
  async function have(part: string, value: number): Promise<void> {
    for (const tab of tabs) await expect.poll(() => figure(tab, part), PATIENCE).toBe(value);
  }

  /** Places 20 orders in each page at once, from a full shelf, and waits for them. */
  async function rush(): Promise<void> {
    await startOver();
    await press('Place 20 orders in every page');
    for (const place of places())
      await expect.poll(() => shown(place, 'own-orders'), PATIENCE).toBe('20');
    await have('ordered', 80);
  }

  async function startOver(): Promise<void> {
    await press('Start over');
    await have('ordered', 0);
    await have('stock', FULL);
  }

  beforeAll(async () => {
    site = await openPlayground();
    await site.openPanel('Transactions');
  });

  afterAll(() => site?.close());

  test('at a usual width no control stands alone in its row', async () => {
    await site.page.setViewportSize({ width: 1280, height: 800 });
    const controls = site.page.locator('.shop-controls :is(fieldset, button, a)');
    const rows = (await controls.all()).map(async (control) => {
      const { y, height } = (await control.boundingBox()) as { y: number; height: number };
      return Math.round(y + height / 2);
    });
    const middles = await Promise.all(rows);
    expect(middles).toHaveLength(4);
    for (const middle of middles)
      expect(middles.filter((other) => Math.abs(other - middle) < 9).length).toBeGreaterThan(1);
  });

  test('every tab has a second page, and an order of one page shows in all', async () => {
    const { page, browser, errors } = site;
    const coming = browser.context.waitForEvent('page');
    await page.getByRole('link', { name: 'Open another tab' }).click();
    const second = await coming;
    second.on('pageerror', (error) => errors.push(String(error)));
    tabs = [page, second];
    await have('stock', FULL);
    expect(places()).toHaveLength(4);
    for (const place of places()) await place.locator('[data-part="ordering"]').waitFor();

    await press('Place order');
    await have('ordered', 1);
    await have('stock', FULL - 1);
    expect(await figure(site.page, 'own-orders')).toBe(1);
    expect(await shown(site.page, 'ordering')).toBe('Placed 1 order with 0 retries.');
  });

  test('two tabs order at once: stock and orders agree at every moment, after retries', async () => {
    for (const tab of tabs) await tab.evaluate(recordSums);
    await rush();
    await have('stock', FULL - 80);
    await have('sum', FULL);
    expect(await figure(site.page, 'retries')).toBeGreaterThan(0);
    const ownRetries = await Promise.all(
      places().map(async (place) => Number(await shown(place, 'own-retries'))),
    );
    const total = ownRetries.reduce((sum, retries) => sum + retries);
    expect(await figure(site.page, 'retries')).toBe(total);
    for (const tab of tabs) expect(new Set(await tab.evaluate(sums))).toEqual(new Set(['150']));
    await site.screenshot('transactions');
  });

  test('without transactions updates are lost, and the page says how many', async () => {
    await pick('Without');
    await rush();
    const lost = (await figure(site.page, 'stock')) + 80 - FULL;
    expect(lost).toBeGreaterThan(0);
    await have('sum', FULL + lost);
    const text = await site.page.locator('.figure[data-tone="bad"]').innerText();
    expect(text).toContain(`${lost} update`);
    await site.screenshot('transactions-without');
    await startOver();
    await have('sum', FULL);
    expect(site.errors).toEqual([]);
  });
});

// These run in the page.

interface Recording {
  recorded: string[];
}

/** Records every sum that the page shows from now on. */
function recordSums(): void {
  const sum = document.querySelector('[data-part="sum"]') as HTMLElement;
  const recorded = [sum.innerText];
  new MutationObserver(() => recorded.push(sum.innerText)).observe(sum, {
    characterData: true,
    childList: true,
    subtree: true,
  });
  (globalThis as unknown as Recording).recorded = recorded;
}

const sums = () => (globalThis as unknown as Recording).recorded;
