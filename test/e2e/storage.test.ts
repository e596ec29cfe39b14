import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPlayground, PATIENCE, type Playground, runs } from './open-playground.ts';

describe.runIf(runs('chromium'))('storage', () => {
  let site: Playground;

  beforeAll(async () => {
    site = await openPlayground();
    await site.loadCities();
    await site.openPanel('Storage');
  });

  afterAll(() => site?.close());

  test('what is used, what each collection holds, and whether it stays', async () => {
    const { page, part } = site;
    await expect.poll(() => part('usage').innerText()).toMatch(/^\d+ MB$/);
    await expect
      .poll(() => part('size-cities').innerText(), PATIENCE)
      .toMatch(/Cities\s+\d+ MB\s+until \d\d:\d\d/);
    expect(await part('persisted').innerText()).toMatch(/^It (stays|may go)$/);
    expect(await page.getByRole('img', { name: /^Storage used: \d+ MB$/ }).count()).toBe(1);
    await site.screenshot('storage');
    expect(site.errors).toEqual([]);
  });
});
