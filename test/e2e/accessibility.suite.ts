import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Playground } from './open-playground.ts';

const AXE = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));
const WIDTHS = [390, 1024, 1600];

/** What holds of every panel, where all cities are there. */
export function accessibilitySuite(shared: () => Playground): void {
  describe('every panel', () => {
    let site: Playground;
    let titles: readonly string[] = [];

    beforeAll(async () => {
      site = shared();
      await site.page.evaluate(await readFile(AXE, 'utf8'));
      const links = site.page.getByRole('navigation').getByRole('link');
      titles = (await links.allInnerTexts()).map((title) => title.trim());
    });

    test('nothing is cut off from a phone to a wide screen, axe finds nothing; pictures of each', async () => {
      const { page } = site;
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: width < 600 ? 844 : 1000 });
        for (const title of titles) {
          await site.openPanel(title);
          await settle();
          const overflow = await page.evaluate(
            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
          );
          expect(overflow, `${title} at ${width}`).toBeLessThanOrEqual(0);
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
            const name = title.toLowerCase().replaceAll(' ', '-');
            await site.screenshot(`${name}-${width}-${colorScheme}`);
            // The same elements, whatever the width.
            if (width === WIDTHS[1])
              expect(await violations(), `${title}, ${colorScheme}`).toEqual([]);
          }
        }
      }
    });

    test('nothing jumps while a panel opens', async () => {
      const { page, url } = site;
      await page.setViewportSize({ width: 1280, height: 900 });
      const addresses = titles.map((title) => page.getByRole('link', { name: title, exact: true }));
      const hashes = await Promise.all(addresses.map((link) => link.first().getAttribute('href')));
      for (const hash of hashes) {
        await page.goto('about:blank');
        await page.goto(`${url}${hash}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await settle();
        const shift = await page.evaluate(layoutShift);
        expect(shift, String(hash)).toBeLessThan(0.02);
      }
    });

    async function violations(): Promise<string[]> {
      const { violations } = await site.page.evaluate(() =>
        (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
      );
      return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
    }

    /** Lets what a panel asks for at first come in. */
    async function settle(): Promise<void> {
      await site.page.waitForTimeout(300);
    }
  });
}

// What follows runs in the page, so it can use nothing from here.

/** How far things moved that nobody had touched, by the Layout Instability API. */
function layoutShift(): Promise<number> {
  return new Promise((resolve) => {
    let sum = 0;
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { value, hadRecentInput } = entry as PerformanceEntry & {
          value: number;
          hadRecentInput: boolean;
        };
        if (!hadRecentInput) sum += value;
      }
    });
    observer.observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => resolve(sum), 100);
  });
}
