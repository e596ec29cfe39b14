import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../tools/browsers/chromium.mjs';
import { launchFirefox } from '../../tools/browsers/firefox.mjs';
import { launchWebKit } from '../../tools/browsers/webkit.mjs';
import { servePlayground } from './playground-server.ts';

const ALL = '135,233';
const SCREENSHOT = fileURLToPath(new URL('screenshots/playground.png', import.meta.url));
const PATIENCE = { timeout: 90_000, interval: 200 };

const asked = process.env.BROWSERS?.split(',');
const runs = (browser: string) => asked?.includes(browser) ?? true;

let playground: Awaited<ReturnType<typeof servePlayground>>;

beforeAll(async () => {
  playground = await servePlayground();
});

afterAll(() => playground?.remove());

test.runIf(runs('chromium'))(
  'chromium: cities are imported, found, edited, archived, and all of it is there after a reload',
  async () => {
    const { url, close } = await playground.open();
    const browser = await launchChromium();
    try {
      const page = await browser.newPage(url);
      const errors: Error[] = [];
      page.on('pageerror', (error) => errors.push(error));
      const shown = (part: string) => page.locator(`[data-part="${part}"]`);
      const summary = () => shown('summary').innerText();

      await page.getByRole('button', { name: 'Import the cities' }).click();
      await expect.poll(() => shown('until-saved').innerText(), PATIENCE).not.toBe('–');
      await expect.poll(() => shown('saved-text').innerText()).toBe('Everything is saved');
      expect(await shown('documents').innerText()).toBe(ALL);
      expect(await shown('engine').innerText()).toBe('Web Worker, from its file');
      expect(await shown('storage').innerText()).toBe('IndexedDB');
      expect(await shown('last-error').innerText()).toBe('None');
      console.log(`chromium: ${await figures(page)}`);

      await find(page, '{ "country": "IS", "population": { "$gt": 100000 } }');
      await expect.poll(summary).toMatch(/^1 city\b/);
      await page.getByRole('button', { name: 'Edit Reykjavík' }).click();
      await page.getByLabel('Population').fill('123456');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await expect.poll(() => shown('rows').innerText()).toContain('123,456');

      await page.getByText('Function', { exact: true }).click();
      await find(page, "({ name, country }) => country === 'PT' && name === 'Lisbon'");
      await expect.poll(summary).toMatch(/^1 city\b/);
      await page.getByRole('button', { name: 'Archive Lisbon' }).click();
      await expect.poll(summary).toMatch(/^0 cities/);
      await expect.poll(() => shown('saved-text').innerText()).toBe('Everything is saved');

      await page.reload();
      await expect.poll(summary, PATIENCE).toMatch(/^135,232 cities found/);
      expect(await shown('documents').innerText()).toBe(ALL);
      console.log(`chromium: opened in ${await shown('opened').innerText()}`);
      await page.screenshot({ path: SCREENSHOT });
      await find(page, '{ "name": "Reykjavík" }');
      await expect.poll(() => shown('rows').innerText()).toContain('123,456');
      await page.getByText('Archived', { exact: true }).click();
      await find(page, '{ "name": "Lisbon" }');
      await expect.poll(summary).toMatch(/^1 city\b/);
      await page.getByRole('button', { name: 'Unarchive Lisbon' }).click();
      await expect.poll(summary).toMatch(/^0 cities/);

      expect(errors).toEqual([]);
    } finally {
      await browser.close();
      await close();
    }
  },
);

test.runIf(runs('chromium'))(
  'chromium: a wrong query is explained at its field, a delete is asked for, and all can be dropped',
  async () => {
    const { url, close } = await playground.open();
    const browser = await launchChromium();
    try {
      const page = await browser.newPage(url);
      const shown = (part: string) => page.locator(`[data-part="${part}"]`);
      await page.getByRole('button', { name: 'Import the cities' }).click();
      await expect.poll(() => shown('until-saved').innerText(), PATIENCE).not.toBe('–');

      await find(page, '{ "population": { "$gtt": 5 } }');
      await expect.poll(() => shown('query-problem').innerText()).toContain('population.$gtt');
      await find(page, '{ "population"');
      await expect.poll(() => shown('query-problem').innerText()).toContain('This is not JSON yet');
      await page.getByText('Function', { exact: true }).click();
      await find(page, '(city) => city.mayor.name');
      await expect.poll(() => shown('query-problem').innerText()).toContain('The query stopped');

      await find(page, '({ name, country }) => country === "IS" && name.startsWith("R")');
      await expect.poll(() => shown('query-problem').innerText()).toBe('');
      await page.getByRole('button', { name: 'Delete Reykjavík' }).click();
      await page.getByRole('button', { name: 'Keep' }).click();
      expect(await shown('documents').innerText()).toBe(ALL);
      await page.getByRole('button', { name: 'Delete Reykjavík' }).click();
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await expect.poll(() => shown('documents').innerText()).toBe('135,232');

      await find(page, '({ country }) => country !== "IS"');
      await expect.poll(() => shown('summary').innerText(), PATIENCE).toContain('found');
      await page.getByRole('button', { name: 'Delete all matches' }).click();
      await shown('confirm-yes').click();
      await expect.poll(() => shown('documents').innerText(), PATIENCE).toMatch(/^\d{2}$/);

      await page.getByRole('button', { name: 'Start over' }).click();
      await page.getByRole('button', { name: 'Drop everything' }).click();
      await expect.poll(() => shown('documents').innerText()).toBe('0');
      await page.reload();
      await expect.poll(() => shown('documents').innerText(), PATIENCE).toBe('0');
    } finally {
      await browser.close();
      await close();
    }
  },
);

for (const [name, launch] of [
  ['firefox', launchFirefox],
  ['webkit', launchWebKit],
] as const) {
  test.runIf(runs(name))(`${name}: cities are imported, and found after a reload`, async () => {
    const { remote, remoteUrl, close } = await playground.open();
    const browser = await launch();
    try {
      const page = await browser.newPage();
      await page.goto(remoteUrl);
      const shown = (part: string) => remote.evaluate(textOf, part);

      await expect.poll(() => shown('documents'), PATIENCE).toBe('0');
      await remote.evaluate(click, 'import-button');
      await expect.poll(() => shown('until-saved'), PATIENCE).not.toBe('–');
      expect(await shown('documents')).toBe(ALL);
      console.log(
        `${name}: ${await shown('rate')} a second, saved in ${await shown('until-saved')}`,
      );

      remote.reload();
      await expect.poll(() => shown('summary'), PATIENCE).toMatch(/^135,233 cities found/);
      console.log(`${name}: opened in ${await shown('opened')}`);
      await remote.evaluate(type, 'query-text', '{ "name": "Reykjavík" }');
      await remote.evaluate(submit, 'query');
      await expect.poll(() => shown('summary')).toMatch(/^1 city\b/);
      expect(await shown('rows')).toContain('Iceland');
    } finally {
      await browser.close();
      await close();
    }
  });
}

/** Types a query and runs it. */
async function find(page: Page, query: string): Promise<void> {
  await page.locator('[data-part="query-text"]').fill(query);
  await page.keyboard.press('Control+Enter');
}

async function figures(page: Page): Promise<string> {
  const lines = await page.locator('[data-part="import"] dl > div').allInnerTexts();
  return lines.map((line) => line.replace('\n', ' ')).join(', ');
}

// What follows runs in a remote page, so it can use nothing from here.

function textOf(part: string): string | undefined {
  return document.querySelector(`[data-part="${part}"]`)?.textContent?.trim();
}

function click(part: string): void {
  document.querySelector<HTMLElement>(`[data-part="${part}"]`)?.click();
}

function type(part: string, text: string): void {
  const field = document.querySelector<HTMLTextAreaElement>(`[data-part="${part}"]`);
  if (field) field.value = text;
}

function submit(part: string): void {
  document.querySelector<HTMLFormElement>(`[data-part="${part}"]`)?.requestSubmit();
}
