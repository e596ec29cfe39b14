import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPlayground, PATIENCE, type Playground, runs } from './open-playground.ts';

describe.runIf(runs('chromium'))('backups', () => {
  let site: Playground;
  let file = '';

  const news = () => site.part('backup-news').innerText();
  const backup = (label: string) => site.part('backup').filter({ hasText: label });

  beforeAll(async () => {
    site = await openPlayground();
    const { page } = site;
    await site.openPanel('Data');
    await page.getByText('Products', { exact: true }).click();
    await page.getByRole('button', { name: 'Fill the shop' }).click();
    await page.getByText('240 products').waitFor();
    await site.openPanel('Backups');
    await page.getByRole('combobox', { name: 'Collection' }).selectOption('products');
  });

  afterAll(() => site?.close());

  test('a backup is made, compared after a change, and restored', async () => {
    const { page } = site;
    await page.getByRole('textbox', { name: 'Label' }).fill('before the clean-up');
    await page.getByRole('button', { name: 'Create a backup' }).click();
    await expect.poll(news, PATIENCE).toMatch(/^Created in \d+ ms/);
    await expect
      .poll(() => site.part('backup').allInnerTexts(), PATIENCE)
      .toContainEqual(expect.stringContaining('before the clean-up'));
    await expect
      .poll(() => backup('before the clean-up').innerText(), PATIENCE)
      .toMatch(/240 documents · \d+ kB · expires \d+ \w+/);

    await page.getByRole('button', { name: 'Delete every second document' }).click();
    await expect.poll(news, PATIENCE).toMatch(/^120 documents deleted/);
    await page.getByRole('button', { name: 'Compare before the clean-up' }).click();
    await expect
      .poll(() => site.part('difference').innerText(), PATIENCE)
      .toMatch(/added\s+0\s+changed\s+0\s+removed\s+120/);
    await site.screenshot('backups');

    await page.getByRole('button', { name: 'Restore before the clean-up' }).click();
    await expect.poll(news, PATIENCE).toContain('Restored');
    await expect.poll(() => site.part('backup').count()).toBe(2);
    expect(await site.part('backup').first().innerText()).toContain('automatic');
  });

  test('what changed between two moments is shown, and one document put back', async () => {
    const { page } = site;
    const counts = () => site.part('changed-counts').innerText();
    await page.getByRole('textbox', { name: 'Label' }).fill('after the restore');
    await page.getByRole('button', { name: 'Create a backup' }).click();
    await expect.poll(() => site.part('backup').count(), PATIENCE).toBe(3);
    await page.getByRole('button', { name: 'Delete every second document' }).click();
    await expect.poll(news, PATIENCE).toMatch(/^120 documents deleted/);
    await page.getByRole('button', { name: 'Show what changed' }).click();
    await expect.poll(counts, PATIENCE).toMatch(/added\s+0\s+changed\s+0\s+removed\s+120/);
    const changes = site.part('changes').getByRole('listitem');
    expect(await changes.count()).toBe(100);
    await changes
      .first()
      .getByRole('button', { name: /^Put back/ })
      .click();
    await expect.poll(counts, PATIENCE).toMatch(/removed\s+119/);
    await expect.poll(news, PATIENCE).toContain('Restored one document');
    await site.screenshot('backups-changes');

    const automatic = (
      await page.getByRole('combobox', { name: 'To' }).locator('option').allInnerTexts()
    ).find((text) => text.includes('before loadBackup()'));
    await page.getByRole('combobox', { name: 'To' }).selectOption({ label: automatic as string });
    await page.getByRole('button', { name: 'Show what changed' }).click();
    await expect.poll(counts, PATIENCE).toMatch(/added\s+0\s+changed\s+0\s+removed\s+120/);

    await page.getByRole('button', { name: 'Restore before the clean-up' }).click();
    await expect.poll(news, PATIENCE).toContain('Restored "before the clean-up"');
  });

  test('a backup is exported to a file and imported', async () => {
    const { page } = site;
    const coming = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download before the clean-up' }).click();
    const download = await coming;
    expect(download.suggestedFilename()).toBe('products.ndjson.gz');
    file = await download.path();
    await page.getByRole('button', { name: 'Delete every second document' }).click();
    await expect.poll(news, PATIENCE).toMatch(/^120 documents deleted/);
    await page.getByLabel('Backup file').setInputFiles(file);
    await expect.poll(news, PATIENCE).toMatch(/^Imported 240 documents/);
  });

  test('an invalid file is refused with a message', async () => {
    const { page } = site;
    const buffer = Buffer.from('no backup');
    await page
      .getByLabel('Backup file')
      .setInputFiles({ name: 'none.gz', mimeType: 'application/gzip', buffer });
    await expect
      .poll(() => page.getByRole('alert').allInnerTexts(), PATIENCE)
      .toContainEqual(expect.stringContaining('gzip'));
  });

  test('an emptied collection is restored from the kept backup', async () => {
    const { page, part } = site;
    await site.openPanel('Data');
    await page.locator('.segmented').getByText('Orders', { exact: true }).click();
    await expect.poll(() => part('count').innerText(), PATIENCE).toContain('10,000 orders');
    await page.getByRole('button', { name: 'Empty…' }).click();
    await page.getByRole('button', { name: 'Drop everything' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => part('count').innerText(), PATIENCE).toContain('10,000 orders');
    expect(site.errors).toEqual([]);
  });
});
