import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPlayground, PATIENCE, type Playground, runs } from './open-playground.ts';

describe.runIf(runs('chromium'))('the devtools in the playground', () => {
  let site: Playground;

  beforeAll(async () => {
    site = await openPlayground();
  }, PATIENCE.timeout);

  afterAll(() => site?.close());

  test('while the code of a panel loads, the panel before is gone', async () => {
    const { browser, page, url } = site;
    const network = await browser.context.newCDPSession(page);
    await network.send('Network.enable');
    await network.send('Network.setBypassServiceWorker', { bypass: true });
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/devtools-panel.*\.js$/, async (route) => {
      await released;
      await route.continue();
    });
    await page.goto('about:blank');
    await page.goto(url);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Devtools', exact: true }).click();
    await page.getByText('Loading “Devtools”…').waitFor();
    expect(await page.getByRole('heading', { level: 1 }).count()).toBe(0);
    release();
    await page.getByRole('heading', { level: 1, name: 'See what the database does' }).waitFor();
  });

  test('an empty database offers documents, and shows them once they are loaded', async () => {
    const { page } = site;
    await page.getByText('No document matches').waitFor();
    await site.loadCities();
    await page.getByRole('cell', { name: 'El Tarter' }).waitFor();
    expect(site.errors).toEqual([]);
  });

  test('on a phone the actions of a row are in sight, and no keys are named', async () => {
    const { page } = site;
    await page.setViewportSize({ width: 390, height: 844 });
    await site.openPanel('Data');
    const archive = page.getByRole('button', { name: 'Archive El Tarter' });
    await archive.waitFor();
    const { x = 0, width = 0 } = (await archive.boundingBox()) ?? {};
    expect(x + width).toBeLessThanOrEqual(390);
    const country = await page.getByRole('gridcell', { name: 'Andorra' }).first().boundingBox();
    expect(x - (country?.x ?? x)).toBeGreaterThan(60);
    expect(await page.locator('#grid-keys').isVisible()).toBe(false);
  });
});
