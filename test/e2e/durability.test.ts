import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPlayground, PATIENCE, type Playground, runs } from './open-playground.ts';

describe.runIf(runs('chromium'))('durability panel', () => {
  let site: Playground;

  beforeAll(async () => {
    site = await openPlayground();
    await site.openPanel('Durability');
  });

  afterAll(() => site?.close());

  test('a write shows as a save, and no change stays unsaved', async () => {
    const { page, part } = site;
    const saves = () => page.locator('.pulse-beat').count();
    const before = await saves();
    await page.getByText('One', { exact: true }).click();
    await page.getByRole('button', { name: 'Only write' }).click();
    await expect.poll(saves).toBeGreaterThan(before);
    await expect.poll(() => part('unsaved').innerText(), PATIENCE).toBe('0');
  });

  for (const [choice, count] of [
    ['One', '1'],
    ['20,000', '20,000'],
  ] as const) {
    test(`an acknowledged write survives an immediate reload: ${count}`, async () => {
      const { page, part } = site;
      await page.getByText(choice, { exact: true }).click();
      await page.getByText('acknowledged', { exact: true }).click();
      await page.getByRole('button', { name: 'Write and reload at once' }).click();
      await expect
        .poll(() => part('recovered').innerText(), PATIENCE)
        .toBe(`${count} of ${count} recovered`);
    });
  }

  test('an acknowledged write survives when its tab closes itself', async () => {
    const { page, part, browser } = site;
    await page.getByText('500', { exact: true }).click();
    await page.getByRole('button', { name: 'Write in a tab that closes at once' }).click();
    await expect.poll(() => part('outcome').innerText(), PATIENCE).toContain('A tab was closed');
    expect(await part('recovered').innerText()).toBe('500 of 500 recovered');
    expect(browser.context.pages()).toHaveLength(2); // the first of them is blank
  });

  test('a saved write survives a reload', async () => {
    const { page, part } = site;
    await page.getByText('20,000', { exact: true }).click();
    await page.getByText('saved', { exact: true }).click();
    await page.getByRole('button', { name: 'Write and reload at once' }).click();
    await expect
      .poll(() => part('recovered').innerText(), PATIENCE)
      .toBe('20,000 of 20,000 recovered');
    await site.screenshot('durability');
    expect(site.errors).toEqual([]);
  });
});
