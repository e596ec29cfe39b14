import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPlayground, PATIENCE, type Playground, runs } from './open-playground.ts';
import { panelFaults } from './panel-faults.ts';

describe.runIf(runs('chromium'))('without documents', () => {
  let site: Playground;

  beforeAll(async () => {
    site = await openPlayground();
  }, PATIENCE.timeout);

  afterAll(() => site?.close());

  test('every panel fills its cards, from a phone to a wide screen', async () => {
    const { page } = site;
    const links = page.getByRole('navigation').getByRole('link');
    const titles = (await links.allInnerTexts()).map((title) => title.trim());
    for (const [width, height] of [
      [390, 844],
      [1280, 800],
      [1680, 1000],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const title of titles) {
        await site.openPanel(title);
        await expect.poll(() => panelFaults(page), { ...PATIENCE, timeout: 20_000 }).toEqual([]);
        await site.screenshot(`empty-${title.toLowerCase()}-${width}`);
      }
    }
    expect(site.errors).toEqual([]);
  });

  test('a query without a result says so', async () => {
    await site.openPanel('Query');
    await expect
      .poll(() => site.page.getByRole('region', { name: 'Results' }).innerText(), PATIENCE)
      .toContain('No document matches.');
  });

  test('text is as wide and as high before its font has come', async () => {
    const { page } = site;
    await page.addStyleTag({ content: '.measured { position: absolute; white-space: nowrap }' });
    const sizes = await page.evaluate(async () => {
      const link = document.querySelector<HTMLLinkElement>('link[as="font"][href*="hanken"]');
      const face = new FontFace('Measured', `url(${link?.href})`, { weight: '100 900' });
      document.fonts.add(await face.load());
      const [, ...fallbacks] = getComputedStyle(document.body).fontFamily.split(',');
      return [400, 550, 650].map((weight) =>
        ['Measured', fallbacks.join(',')].map((family) => {
          const text = document.body.appendChild(document.createElement('p'));
          text.className = 'measured';
          text.textContent =
            'Search 135,233 cities as you type: nothing is lost when a tab closes.';
          text.style.font = `${weight} 100px/normal ${family}`;
          const { width, height } = text.getBoundingClientRect();
          text.remove();
          return { width, height };
        }),
      );
    });
    for (const [font, fallback] of sizes) {
      expect(Math.abs((fallback?.width ?? 0) / (font?.width ?? 1) - 1)).toBeLessThan(0.03);
      expect(Math.abs((fallback?.height ?? 0) / (font?.height ?? 1) - 1)).toBeLessThan(0.03);
    }
  });
});
