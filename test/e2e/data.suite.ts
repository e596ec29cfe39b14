import { beforeAll, describe, expect, test } from 'vitest';
import type { Playground } from './open-playground.ts';

/** The grid of the panel Data. */
export const gridOf = (shared: () => Playground) => ({
  search: (text: string) => shared().page.getByRole('searchbox').fill(text),
  count: () => shared().part('count').innerText(),
  cell: (text: string) => shared().page.getByRole('gridcell', { name: text, exact: true }),
});

/** The panel Data, with all cities loaded; leaves them as they were. */
export function dataSuite(shared: () => Playground): void {
  describe('data', () => {
    let site: Playground;
    const { search, count, cell } = gridOf(shared);

    beforeAll(async () => {
      site = shared();
      await site.openPanel('Data');
    });

    test('a search narrows the grid, a heading sorts it', async () => {
      const { page } = site;
      await search('reykja');
      await expect.poll(count).toMatch(/^2 cities/);
      await search('');
      await page.getByRole('button', { name: 'Population' }).click();
      const first = page.locator('[aria-rowindex="2"]');
      await expect.poll(() => first.innerText()).toContain('Shanghai');
      await page.getByRole('button', { name: 'Population' }).click();
      await expect.poll(() => first.innerText()).not.toContain('Shanghai');
      await page.getByRole('button', { name: 'Population' }).click();
      await expect.poll(() => first.innerText()).toContain('El Tarter');
    });

    test('a key jumps to the last of 135,233 rows', async () => {
      const { page } = site;
      await cell('El Tarter').click();
      await page.keyboard.press('Control+End');
      const last = page.locator('[aria-rowindex="135234"]');
      await expect.poll(() => last.innerText()).toContain('Zimbabwe');
      expect(await page.getByRole('grid').getByRole('row').count()).toBeLessThan(80);
      await page.keyboard.press('Control+Home');
      await expect.poll(() => cell('El Tarter').count()).toBe(1);
    });

    test('a cell is edited in place; an error shows there', async () => {
      const { page, part } = site;
      await search('Reykjavík');
      await cell('Reykjavík').click();
      await page.keyboard.press('End');
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('Enter');
      const field = page.getByRole('textbox', { name: 'Population' });
      await field.fill('many');
      await page.keyboard.press('Enter');
      await expect.poll(() => page.locator('.cell-problem').innerText()).toContain('be a number');
      await field.fill('123,456');
      await page.keyboard.press('Enter');
      await expect.poll(() => cell('123,456').count()).toBe(1);
      await page.getByRole('button', { name: 'Undo' }).click();
      await expect.poll(() => cell('118,918').count()).toBe(1);
      await page.getByRole('button', { name: 'Redo' }).click();
      await expect.poll(() => cell('123,456').count()).toBe(1);
      await page.getByRole('button', { name: 'Undo' }).click();
      await expect.poll(() => cell('118,918').count()).toBe(1);
      await expect.poll(() => part('last-done').innerText()).toBe('Redo');
    });

    test('a document is archived and unarchived', async () => {
      const { page } = site;
      await search('Reykjavík');
      await page.getByRole('button', { name: 'Archive Reykjavík' }).click();
      await expect.poll(count).toMatch(/^0 cities/);
      await page.getByText('Archived', { exact: true }).click();
      await expect.poll(count).toMatch(/^1 city/);
      await page.getByRole('button', { name: 'Unarchive Reykjavík' }).click();
      await expect.poll(count).toMatch(/^0 cities/);
      await page.getByText('Active', { exact: true }).click();
      await expect.poll(count).toMatch(/^1 city/);
    });

    test('a deletion is undone', async () => {
      const { page } = site;
      await search('Reykjavík');
      await page.getByRole('button', { name: 'Delete Reykjavík' }).click();
      await expect.poll(count).toMatch(/^0 cities/);
      await page.getByRole('button', { name: 'Undo' }).click();
      await expect.poll(count).toMatch(/^1 city/);
      await search('');
      await expect.poll(count).toContain('135,233');
      await site.screenshot('data');
    });
  });
}
