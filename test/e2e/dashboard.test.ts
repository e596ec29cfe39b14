import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPlayground, PATIENCE, type Playground, runs } from './open-playground.ts';

describe.runIf(runs('chromium'))('dashboard', () => {
  let site: Playground;

  beforeAll(async () => {
    site = await openPlayground();
    await site.openPanel('Dashboard');
  });

  afterAll(() => site?.close());

  test('totals and joined orders follow each change', async () => {
    const { page, part } = site;
    await part('fill-shop').click();
    const sent = async () => Number(/sent\s+([\d,]+)/.exec(await states())?.[1]?.replace(',', ''));
    const states = () => part('states').innerText();
    const rows = () => part('open-orders').getByRole('listitem');
    await expect.poll(() => part('months').innerText(), PATIENCE).toMatch(/Oct 2026\s+\d{3}/);
    await expect.poll(() => sumOf(states), PATIENCE).toBe(10_000);
    await expect.poll(() => rows().count(), PATIENCE).toBe(8);
    expect(await rows().first().innerText()).toMatch(/^1\d{5} \w+ \w+, \S+\s+\d × \w+ .* in stock/);
    const before = await sent();
    const [first, second] = await rows().allInnerTexts();
    await site.screenshot('dashboard');
    await page
      .getByRole('button', { name: /^Send order/ })
      .first()
      .click();
    await expect.poll(sent, PATIENCE).toBe(before + 1);
    await expect.poll(() => rows().first().innerText()).toBe(second);
    expect(await rows().allInnerTexts()).not.toContain(first);
    expect(site.errors).toEqual([]);
  });

  test('a phone shows the names of months and states whole', async () => {
    const { page, part } = site;
    await page.setViewportSize({ width: 390, height: 844 });
    await page.evaluate(() => document.fonts.ready);
    const cutOff = (names: Element[]) =>
      names.filter((name) => name.scrollWidth > name.clientWidth).map((name) => name.textContent);
    for (const name of ['states', 'months'])
      expect(await part(name).locator('dt').evaluateAll(cutOff)).toEqual([]);
  });
});

async function sumOf(read: () => Promise<string>): Promise<number> {
  const counts = (await read()).match(/\d[\d,]*/g) ?? [];
  return counts.reduce((sum, count) => sum + Number(count.replace(',', '')), 0);
}
