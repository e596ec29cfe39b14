import { describe, expect, test } from 'vitest';
import { ALL, PATIENCE, type Playground } from './open-playground.ts';

/** The panel Start; leaves all cities loaded. */
export function startSuite(shared: () => Playground): void {
  describe('start', () => {
    test('an import can be stopped and resumed, and the cities survive a reload', async () => {
      const site = shared();
      const { page, part } = site;
      await site.openPanel('Data');
      await page.getByRole('button', { name: /^Load/ }).click();
      await page.getByRole('button', { name: 'Cancel' }).click();
      await expect.poll(() => part('import-strip').innerText()).toContain('it was stopped');
      await site.openPanel('Start');
      await site.loadCities();
      await expect.poll(() => part('documents').innerText(), PATIENCE).toBe(ALL);
      expect(await part('save-state').innerText()).toContain('All saved');
      console.log(`${await part('rate').innerText()} a second`);
      await page.reload();
      await expect.poll(() => part('documents').innerText(), PATIENCE).toBe(ALL);
    });

    test('the lens queries the area under it, by pointer and by keys', async () => {
      const site = shared();
      const { page } = site;
      const map = page.getByRole('application');
      const { width = 0, height = 0 } = (await map.boundingBox()) ?? {};
      await map.hover({ position: { x: width * 0.52, y: height * 0.23 } });
      const sight = page.locator('.sight');
      await expect
        .poll(() => sight.innerText())
        .toMatch(/\d\d,\d{3} of 135,233 are under the lens/);
      const before = await sight.innerText();
      await map.focus();
      for (let press = 0; press < 5; press++) await page.keyboard.press('ArrowDown');
      await expect.poll(() => sight.innerText()).not.toBe(before);
      await site.screenshot('start');
      expect(site.errors).toEqual([]);
    });
  });
}
