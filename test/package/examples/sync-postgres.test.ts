import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Child, removeFolder } from '../../../tools/browsers/child.mjs';
import { launchChromium } from '../../../tools/browsers/chromium.mjs';
import { makeApp } from '../consumers.ts';
import { ROOT, userEnvironment } from '../tarball.ts';

/** What npm would install beside the package. */
const INSTALLED = ['pg', '@electric-sql'];

let folder: string;
let example: Child;
let browsers: Awaited<ReturnType<typeof launchChromium>>[] = [];
let pages: Page[] = [];

beforeAll(async () => {
  folder = await makeApp({});
  cpSync(join(ROOT, 'examples/sync-postgres'), folder, {
    recursive: true,
    filter: (path) => !path.endsWith('node_modules'),
  });
  for (const name of INSTALLED)
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  const { DATABASE_URL: _, ...environment } = userEnvironment();
  // Without the installation, which needs a network.
  const args = ['--prefix', folder, 'start', '--ignore-scripts'];
  example = new Child('npm', args, { ...environment, PORT: '0', BROWSER: 'none' });
  const [, one, other] = await example.waitFor(/(http:\S+)\s+(http:\S+)/, 60_000);
  browsers = await Promise.all([launchChromium(), launchChromium()]);
  pages = await Promise.all([
    browsers[0]?.newPage(one) as Promise<Page>,
    browsers[1]?.newPage(other) as Promise<Page>,
  ]);
});

afterAll(async () => {
  for (const browser of browsers) await browser.close();
  // Not killed: it stops the PostgreSQL that it has started.
  example?.kill('SIGTERM');
  await example?.exited;
  if (folder) removeFolder(folder);
});

const texts = (page: Page) =>
  page
    .getByLabel('Text')
    .evaluateAll((fields) => fields.map((field) => (field as HTMLInputElement).value));

const bothHave = async (...wanted: string[]) => {
  for (const page of pages) await expect.poll(() => texts(page)).toEqual(wanted);
};

async function edit(page: Page, text: string): Promise<void> {
  await page.getByLabel('Text').fill(text);
  await page.getByLabel('Text').press('Enter');
}

test('the example starts with one command, and two browsers see the changes of each other', async () => {
  const [one, other] = pages as [Page, Page];
  await one.getByLabel('New task').fill('milk');
  await one.getByRole('button', { name: 'Add' }).click();
  await bothHave('milk');
  await edit(other, 'oat milk');
  await bothHave('oat milk');
});

test('what both count offline is counted', async () => {
  for (const page of pages) await page.getByLabel('online').uncheck();
  for (const page of pages) {
    await page.getByLabel('One more: 1').click();
    await page.getByLabel('One more: 2').click();
  }
  for (const page of pages) await page.getByLabel('online').check();
  for (const page of pages)
    await expect.poll(() => page.getByLabel('One more').innerText()).toBe('× 5');
});

test('a conflict is listed, and a click decides it otherwise', async () => {
  const [one, other] = pages as [Page, Page];
  await other.getByLabel('online').uncheck();
  await edit(other, 'rice milk');
  await edit(one, 'soy milk');
  await expect.poll(() => one.getByRole('status').innerText()).toContain('idle, 0 to push');
  await other.getByLabel('online').check();
  await bothHave('soy milk');
  await other.getByRole('button', { name: 'Take “rice milk”' }).click();
  await bothHave('rice milk');
});
