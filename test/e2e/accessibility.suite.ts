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
