import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isNight } from '../setup/at-night.ts';
import { ALL, openPlayground, PATIENCE, type Playground, runs } from './open-playground.ts';

describe.runIf(runs('chromium'))('offline', () => {
  let site: Playground;

  beforeAll(async () => {
    site = await openPlayground();
  });

  afterAll(() => site?.close());

  test('the playground can be installed', async () => {
    const { page, browser } = site;
    const session = await browser.context.newCDPSession(page);
    const { installabilityErrors } = await session.send('Page.getInstallabilityErrors');
    expect(installabilityErrors).toEqual([]);
    await session.detach();
    const href = await page.locator('link[rel="manifest"]').getAttribute('href');
    const response = await page.request.get(new URL(String(href), site.url).href);
    const manifest = await response.json();
    expect(manifest).toMatchObject({ display: 'standalone', start_url: './' });
    for (const { src } of manifest.icons) {
      expect((await page.request.get(new URL(src, site.url).href)).ok()).toBe(true);
    }
  });

  test('the playground opens without a network, with every panel, and at night all cities', async () => {
    const { page, browser } = site;
    await page.waitForFunction(() => navigator.serviceWorker.ready.then(() => true));
    // The service worker controls the second visit, not the first.
    await page.reload();
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    await site.stopServing();
    await browser.context.setOffline(true);
    await page.reload();
    if (isNight) {
      await site.loadCities();
      await expect.poll(() => site.part('documents').innerText(), PATIENCE).toBe(ALL);
    }
    for (const title of await page.getByRole('navigation').getByRole('link').allInnerTexts()) {
      await site.openPanel(title.trim());
    }
    expect(await site.part('save-state').innerText()).toContain('Offline');
    await site.screenshot('offline');
    expect(site.errors).toEqual([]);
  });
});
