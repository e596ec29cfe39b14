import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from '../../../tools/browsers/chromium.mjs';
import { allAtNight } from '../../setup/at-night.ts';
import type { Served } from '../consumers.ts';
import { buildExample, taskLists } from './build-example.ts';

/** The bindings have contract tests of their own. */
const EACH_TIME = taskLists.filter((name) => name === 'react');

describe.each(allAtNight(taskLists, EACH_TIME))('examples/%s', (name) => {
  let app: Served;
  let chromium: Awaited<ReturnType<typeof launchChromium>>;
  let page: Page;
  const problems: string[] = [];
  const hasLogin = name !== 'vanilla' && name !== 'angular';
  const hasRoutes = name !== 'vanilla';

  const open = async (): Promise<Page> => {
    const opened = await chromium.newPage(app.url);
    opened.on('pageerror', (error) => problems.push(String(error)));
    opened.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
    });
    return opened;
  };
  const login = async (user: string) => {
    await page.getByLabel('Your name').fill(user);
    await page.getByRole('button', { name: 'Log in' }).click();
  };
  const add = async (text: string) => {
    await page.getByLabel('New task').fill(text);
    await page.getByLabel('New task').press('Enter');
    await expect.poll(() => textsOf(page)).toContain(text);
  };

  beforeAll(async () => {
    [app, chromium] = await Promise.all([buildExample(name), launchChromium()]);
    page = await open();
    if (hasLogin) await login('Ada');
  });

  afterAll(async () => {
    await chromium?.close();
    await app?.close();
  });

  test('adds, checks, edits, finds, deletes and brings back', async () => {
    for (const text of ['Buy a lamp', 'Water the plants', 'Call Ada (a.m.)']) await add(text);
    expect(await textsOf(page)).toEqual(['Call Ada (a.m.)', 'Water the plants', 'Buy a lamp']);

    await page.getByLabel('Done').nth(1).click(); // check() expects it at once
    await expect.poll(() => page.getByText('2 open').isVisible()).toBe(true);

    await page.getByLabel('Task', { exact: true }).nth(2).fill('Buy two lamps');
    await page.getByLabel('Task', { exact: true }).nth(2).press('Enter');
    await page.getByLabel('Search').fill('TWO lamp');
    await expect.poll(() => textsOf(page)).toEqual(['Buy two lamps']);
    await page.getByLabel('Search').fill('(a.');
    await expect.poll(() => textsOf(page)).toEqual(['Call Ada (a.m.)']);
    await page.getByLabel('Search').fill('');
    await expect.poll(() => textsOf(page)).toHaveLength(3);

    await page.getByRole('button', { name: 'Delete' }).first().click();
    await expect.poll(() => textsOf(page)).toEqual(['Water the plants', 'Buy two lamps']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => textsOf(page)).toHaveLength(3);
  });

  test('another tab shows the same, and its changes appear here', async () => {
    const other = await openTab(page.context(), app.url);
    await expect.poll(() => textsOf(other)).toHaveLength(3);
    await other.getByLabel('New task').fill('From the other tab');
    await other.getByLabel('New task').press('Enter');
    await expect.poll(() => textsOf(page)).toContain('From the other tab');
    await other.close();
  });

  test.runIf(hasRoutes)('the address says which tasks are listed', async () => {
    await page.getByRole('link', { name: 'done' }).click();
    await expect.poll(() => textsOf(page)).toEqual(['Water the plants']);
    await page.reload();
    await expect.poll(() => textsOf(page)).toEqual(['Water the plants']);
    await page.goBack();
    await expect.poll(() => textsOf(page)).toHaveLength(4);
  });

  test('a copy of the tasks can be saved and restored', async () => {
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save a copy' }).click();
    const file = await (await saved).path();
    await page.getByRole('button', { name: 'Delete' }).first().click();
    await expect.poll(() => textsOf(page)).toHaveLength(3);
    await page.getByLabel('Restore a copy').setInputFiles(file);
    await expect.poll(() => textsOf(page)).toHaveLength(4);
  });

  test('keeps everything over a reload, without a network too', async () => {
    await expect.poll(() => page.getByText('Kept on this device').isVisible()).toBe(true);
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
    await page.reload();
    await expect.poll(() => textsOf(page)).toHaveLength(4);
    await page.context().setOffline(true);
    try {
      await page.reload();
      await expect.poll(() => textsOf(page)).toContain('Buy two lamps');
      await add('Without a network');
      // Needs a part of the worker that this page has not loaded.
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Save a copy' }).click();
      await saved;
      await expect.poll(() => page.getByText('4 open').isVisible()).toBe(true);
    } finally {
      await page.context().setOffline(false);
    }
    expect(problems).toEqual([]);
  });

  test.runIf(hasLogin)('each user has tasks of their own', async () => {
    await page.getByRole('button', { name: 'Log out Ada' }).click();
    await login('Bo');
    await add('Of Bo');
    expect(await textsOf(page)).toEqual(['Of Bo']);
    await page.getByRole('button', { name: 'Log out Bo' }).click();
    await login('Ada');
    await expect.poll(() => textsOf(page)).toHaveLength(5);
    expect(problems).toEqual([]);
  });
});

const textsOf = (page: Page): Promise<string[]> =>
  page
    .getByLabel('Task', { exact: true })
    .evaluateAll((fields) => fields.map((field) => (field as HTMLInputElement).value));

async function openTab(context: BrowserContext, url: string): Promise<Page> {
  const tab = await context.newPage();
  await tab.goto(url);
  return tab;
}
