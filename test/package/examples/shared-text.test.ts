import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Child, removeFolder } from '../../../tools/browsers/child.mjs';
import { launchChromium } from '../../../tools/browsers/chromium.mjs';
import { VITE } from '../consumers.ts';
import { builtExample } from './build-example.ts';

let folder: string;
let server: Child;
let url: string;
let browsers: Awaited<ReturnType<typeof launchChromium>>[] = [];
const problems: string[] = [];

beforeAll(async () => {
  folder = await builtExample('shared-text');
  const args = [VITE, 'preview', folder, '--host', '127.0.0.1', '--port', '0'];
  server = new Child(process.execPath, args, { ...process.env, NO_COLOR: '1' });
  [, url = ''] = await server.waitFor(/(http:\S+)/, 60_000);
  browsers = await Promise.all([launchChromium(), launchChromium()]);
});

afterAll(async () => {
  for (const browser of browsers) await browser.close();
  server?.kill('SIGTERM');
  await server?.exited;
  if (folder) removeFolder(folder);
});

async function open(browser: number): Promise<Page> {
  const page = (await browsers[browser]?.newPage(url)) as Page;
  page.on('pageerror', (error) => problems.push(String(error)));
  await expect.poll(() => field(page).isEnabled()).toBe(true);
  return page;
}

const field = (page: Page) => page.getByLabel('Text');
const read = (page: Page) => field(page).inputValue();

async function type(page: Page, where: 'Home' | 'End', words: string): Promise<void> {
  await field(page).press(`Control+${where}`);
  await field(page).pressSequentially(words);
}

test('two people edit one text, offline and on again', async () => {
  const [ada, bo] = [await open(0), await open(1)];
  await type(ada, 'End', 'Dear all, ');
  await expect.poll(() => read(bo)).toBe('Dear all, ');
  for (const page of [ada, bo]) await page.getByLabel('online').uncheck();
  await type(ada, 'End', 'it rains.');
  await type(bo, 'Home', '# ');
  expect(await read(ada)).toBe('Dear all, it rains.');
  for (const page of [ada, bo]) await page.getByLabel('online').check();
  for (const page of [ada, bo]) await expect.poll(() => read(page)).toBe('# Dear all, it rains.');
  await ada.reload();
  await expect.poll(() => read(ada)).toBe('# Dear all, it rains.');
});

test('two tabs of one browser show the text and each other, and keep the cursor', async () => {
  const [one, two] = [await open(0), await open(0)];
  const people = (page: Page) => page.locator('#people').innerText();
  await expect.poll(async () => (await people(one)).split(', ').length).toBeGreaterThan(1);
  await field(two).press('Control+End');
  await type(one, 'Home', '## ');
  await expect.poll(() => read(two)).toMatch(/^## /);
  await field(two).pressSequentially(' Bye');
  await expect.poll(() => read(one)).toMatch(/^## .* Bye$/);
  expect(problems).toEqual([]);
});
