import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPlayground, PATIENCE, type Playground, runs } from './open-playground.ts';

describe.runIf(runs('chromium'))('storage', () => {
  let site: Playground;

  beforeAll(async () => {
    site = await openPlayground();
    await site.openPanel('Data');
    await site.page.getByText('Orders', { exact: true }).click();
    await site.page.getByRole('button', { name: 'Fill the shop' }).click();
    await site.page.getByText('10,000 orders').waitFor();
    await site.openPanel('Storage');
  });

  afterAll(() => site?.close());

  test('the panel shows usage, the size of each collection, and persistence', async () => {
    const { page, part } = site;
    await expect.poll(() => part('usage').innerText()).toMatch(/^[\d.]+ MB$/);
    await expect
      .poll(() => part('size-orders').innerText(), PATIENCE)
      .toMatch(/Orders\s+\d\.\d MB\s+until \d\d:\d\d:\d\d/);
    expect(await part('persisted').innerText()).toMatch(/^(Persistent|Best effort)$/);
    expect(await page.getByRole('img', { name: /^Storage used: [\d.]+ MB$/ }).count()).toBe(1);
    await site.screenshot('storage');
    expect(site.errors).toEqual([]);
  });
});
