import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gridOf } from './data.suite.ts';
import { openPlayground, PATIENCE, type Playground, runs } from './open-playground.ts';

describe.runIf(runs('chromium'))('data without cities', () => {
  let site: Playground;
  const { search, count, cell } = gridOf(() => site);

  beforeAll(async () => {
    site = await openPlayground();
    await site.openPanel('Data');
  });

  afterAll(() => site?.close());

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
