import { expect, test } from '@playwright/test';

test.beforeEach(async ({ page }) => {
  await page.goto('/'); // each test has a browser context of its own, and so an empty database
});

async function order(page, item) {
  await page.getByLabel('Item').fill(item);
  await page.getByRole('button', { name: 'Order' }).click();
  await expect(page.getByRole('listitem').filter({ hasText: item })).toBeVisible();
  await page.evaluate(() => db.save());
}

test('an order survives a reload', async ({ page }) => {
  await order(page, 'lamp');
  await page.reload();
  await expect(page.getByRole('listitem')).toHaveText(['lamp']);
});

test('two tabs show the same orders, and one goes on alone', async ({ page, context }) => {
  const other = await context.newPage();
  await other.goto('/');
  await order(page, 'lamp');
  await expect(other.getByRole('listitem')).toHaveText(['lamp']);

  await page.close(); // the leader: the other tab takes over
  await order(other, 'book');
  await expect(other.getByRole('listitem')).toHaveText(['lamp', 'book']);
});

test('orders are placed offline', async ({ page, context }) => {
  await page.evaluate(() => db.ready); // all code is loaded
  await context.setOffline(true);
  await order(page, 'lamp');
  await context.setOffline(false);
  await page.reload();
  await expect(page.getByRole('listitem')).toHaveText(['lamp']);
});
