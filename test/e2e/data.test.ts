import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPlayground, PATIENCE, type Playground, runs } from './open-playground.ts';

describe.runIf(runs('chromium'))('data', () => {
  let site: Playground;

  const search = (text: string) => site.page.getByRole('searchbox').fill(text);
  const count = () => site.part('count').innerText();
  const cell = (text: string) => site.page.getByRole('gridcell', { name: text, exact: true });

  beforeAll(async () => {
    site = await openPlayground();
    await site.openPanel('Data');
  });

  afterAll(() => site?.close());

  test('an import can be stopped and resumed', async () => {
    const { page, part } = site;
    await page.getByRole('button', { name: /^Load/ }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => part('import-strip').innerText()).toContain('it was stopped');
    await site.openPanel('Start');
    const again = page.getByRole('button', { name: /^Load/ });
    await again.click();
    await expect.poll(() => part('documents').innerText(), PATIENCE).toBe('135,233');
    await expect.poll(() => part('import-text').innerText(), PATIENCE).toContain('saved in');
    await site.openPanel('Data');
    await expect.poll(count).toContain('135,233 cities');
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
    expect(await part('last-done').innerText()).toBe('');
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

  test('in a shop of three collections orders show names of the others', async () => {
    const { page } = site;
    await page.getByText('Orders', { exact: true }).click();
    await page.getByRole('button', { name: 'Fill the shop' }).click();
    await expect.poll(count, PATIENCE).toContain('10,000 orders');
    await expect
      .poll(() => page.locator('[aria-rowindex="2"]').innerText())
      .toMatch(/100,000\s+[A-Z]\w+ [A-Z]\w+\s+\w+ \w+ \d/);
    await page.getByRole('button', { name: 'Customer' }).click();
    const first = page.locator('[aria-rowindex="2"]');
    await expect.poll(() => first.innerText()).toContain('Ada Abara');
    await search('ada berg');
    await expect.poll(() => first.innerText()).toContain('Ada Berg');
    await site.screenshot('data-shop');
    await page.getByText('Customers', { exact: true }).click();
    await expect.poll(count).toContain('2,000 customers');
  });

  const choose = (name: string, content: string | Buffer) =>
    site.page
      .getByLabel('A file of JSON')
      .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(content) });

  test('an unreadable file shows a message and leaves no table', async () => {
    const { page } = site;
    const tables = page.locator('.segmented').first();
    const before = await tables.innerText();
    const refused = [
      ['broken.json', '[{ "name": ', 'broken.json is not JSON'],
      ['list.json', '[1, 2]', 'Row 1 of list.json has no fields: 1'],
      ['lines.ndjson', '{"a":\n{"a":1}', 'lines.ndjson, line 1 is not JSON'],
      ['quote.csv', 'name,height\n"Rysy,2499\n', 'a quote is opened and not closed'],
      ['long.csv', 'name,height\nRysy,2499\nGalan,1,100\n', 'row 2 has more fields'],
      ['empty.csv', 'name,height\n', 'There are no rows in empty.csv'],
      ['photo.json', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0]), 'photo.json is not text'],
    ] as const;
    for (const [name, content, told] of refused) {
      await choose(name, content);
      await expect
        .poll(() => page.getByRole('alert').allInnerTexts())
        .toContainEqual(expect.stringContaining(told));
    }
    await site.screenshot('data-refused');
    expect(await tables.innerText()).toBe(before);
  });

  test('CSV and JSON files become tables', async () => {
    const { page } = site;
    await choose('peaks.csv', 'name,height,climbed\nRysy,2499,true\nGalan,1100,false\n');
    await expect.poll(count).toMatch(/^2 rows/);
    expect(await cell('2,499').count()).toBe(1);
    await choose('lakes.json', JSON.stringify([{ name: 'Ohrid', depth: { max: 288 } }]));
    await expect.poll(() => cell('288').count()).toBe(1);
    const features = [{ type: 'Feature', properties: { name: 'Prespa' } }];
    await choose('lakes.geojson', JSON.stringify({ type: 'FeatureCollection', features }, null, 2));
    await expect.poll(() => cell('Prespa').count()).toBe(1);
    await page.reload();
    await page.getByText('peaks.csv').click();
    await expect.poll(count).toMatch(/^2 rows/);
    await page.getByRole('button', { name: 'Empty…' }).click();
    await page.getByRole('button', { name: 'Drop everything' }).click();
    await expect
      .poll(() => page.locator('.segmented').first().innerText())
      .not.toContain('peaks.csv');
    expect(site.errors).toEqual([]);
  });
});
