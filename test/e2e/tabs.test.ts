import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPlayground, PATIENCE, type Playground, runs } from './open-playground.ts';

describe.runIf(runs('chromium'))('tabs', () => {
  let site: Playground;
  let second: Page;

  const shown = (page: Page, part: string) => page.locator(`[data-part="${part}"]`).innerText();
  const leader = (page: Page) => shown(page, 'leader');
  const lastEvent = (page: Page) =>
    page.locator('[data-part="events"] > li').first().locator('p').innerText();
  const eventCount = (page: Page) => page.locator('[data-part="events"] > li').count();
  const press = (page: Page, name: string) => page.getByRole('button', { name }).click();
  const stones = async (count: number) => {
    for (const page of [site.page, second])
      await expect.poll(() => shown(page, 'stones'), PATIENCE).toBe(String(count));
  };

  beforeAll(async () => {
    site = await openPlayground();
    await site.openPanel('Tabs');
  });

  afterAll(() => site?.close());

  test('the first tab leads, a second one follows', async () => {
    const { page, browser, errors } = site;
    await expect.poll(() => leader(page), PATIENCE).toBe('This tab');
    const coming = browser.context.waitForEvent('page');
    await page.getByRole('link', { name: 'Open another tab' }).click();
    second = await coming;
    second.on('pageerror', (error) => errors.push(String(error)));
    await expect.poll(() => leader(second), PATIENCE).toBe('Another tab');
    expect(await leader(page)).toBe('This tab');
  });

  test('a write of either tab shows in both', async () => {
    const { page } = site;
    await page.getByLabel('First note').fill('from the first');
    await second.getByLabel('Second note').fill('from the second');
    await expect
      .poll(() => second.getByLabel('First note').inputValue(), PATIENCE)
      .toBe('from the first');
    await expect
      .poll(() => page.getByLabel('Second note').inputValue(), PATIENCE)
      .toBe('from the second');
    await press(page, 'Lay a stone');
    await press(second, 'Lay a stone');
    await press(second, 'Lay a stone');
    await stones(3);
    expect(await shown(second, 'laid')).toBe('2');
  });

  test('a worker that crashes or falls silent loses nothing in either tab', async () => {
    const { page } = site;
    const crashes = [
      [page, 'Crash the worker', 'The worker threw an error.'],
      [second, 'Crash the worker', 'The worker threw an error.'],
      [page, 'Terminate it silently', 'The worker was terminated.'],
      [second, 'Terminate it silently', 'The worker was terminated.'],
      [page, 'Crash the worker', 'The worker threw an error.'],
    ] as const;
    let count = 3;
    for (const [tab, button, told] of crashes) {
      await press(tab, button);
      count += 1;
      // After the first entry, which names the first leader.
      for (const each of [page, second])
        await expect.poll(() => eventCount(each), PATIENCE).toBe(count - 2);
      expect(await lastEvent(page)).toContain(`${told} A new worker replaced it. It took `);
      for (const each of [page, second])
        expect(await lastEvent(each)).toContain('Nothing was lost');
      await stones(count);
      expect(await leader(page)).toBe('This tab');
    }
    await site.screenshot('tabs');
    // The deliberate error is the only one.
    expect(site.errors.filter((error) => !error.includes('Thrown on purpose'))).toEqual([]);
  });

  test('when the leading tab closes, the other leads and has all data', async () => {
    const { page } = site;
    const laid = await shown(second, 'laid');
    await second.getByLabel('First note').fill('nearly lost');
    await page.close({ runBeforeUnload: true });
    await expect.poll(() => leader(second), PATIENCE).toBe('This tab');
    await expect
      .poll(() => lastEvent(second), PATIENCE)
      .toMatch(new RegExp(`This tab leads now. It took .* Nothing was lost: all ${laid} stones`));
    expect(await second.getByLabel('First note').inputValue()).toBe('nearly lost');
    expect(await shown(second, 'stones')).toBe('8');
  });

  test('a tab opened by the playground closes itself', async () => {
    const { context } = site.browser;
    const coming = context.waitForEvent('page');
    await second.getByRole('link', { name: 'Open another tab' }).click();
    const third = await coming;
    await expect.poll(() => leader(third), PATIENCE).toBe('Another tab');
    await press(second, 'Close this tab');
    await expect.poll(() => second.isClosed(), PATIENCE).toBe(true);
    await expect.poll(() => leader(third), PATIENCE).toBe('This tab');
    expect(await shown(third, 'stones')).toBe('8');
    expect(site.errors.filter((error) => !error.includes('Thrown on purpose'))).toEqual([]);
  });
});
