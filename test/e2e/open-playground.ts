import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { launchChromium } from '../../tools/browsers/chromium.mjs';
import { servePlayground } from './playground-server.ts';

export const ALL = '135,233';
export const PATIENCE = { timeout: 180_000, interval: 100 };

const SCREENSHOTS = fileURLToPath(new URL('screenshots/', import.meta.url));

const asked = process.env.BROWSERS?.split(',');
export const runs = (browser: string): boolean => asked?.includes(browser) ?? true;

/** The built playground in its own Chromium, with a check for errors. */
export async function openPlayground() {
  const site = await servePlayground(inject('playground'));
  const browser = await launchChromium();
  const page = await browser.newPage();
  let isServing = true;
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto(site.url);

  /** The element with this `data-part`. */
  const part = (name: string) => page.locator(`[data-part="${name}"]`);

  return {
    url: site.url,
    browser,
    page,
    part,
    /** Errors of the page. */
    errors,
    /** Opens a panel as a visitor does, and waits for it. */
    async openPanel(title: string) {
      await page.getByRole('navigation').getByRole('link', { name: title, exact: true }).click();
      await page.waitForFunction((title) => document.title === `${title} · Cairn`, title);
    },
    async loadCities() {
      await page.getByRole('button', { name: /^Load/ }).click();
      const told = part('import-text').filter({ hasText: 'saved in' });
      await told.waitFor({ timeout: PATIENCE.timeout });
    },
    async screenshot(name: string) {
      await page.screenshot({ path: `${SCREENSHOTS}${name}.png` });
    },
    /** Stops the server: only cached files remain. */
    async stopServing() {
      isServing = false;
      await site.close();
    },
    async close() {
      await browser.close();
      if (isServing) await site.close();
    },
  };
}

export type Playground = Awaited<ReturnType<typeof openPlayground>>;
