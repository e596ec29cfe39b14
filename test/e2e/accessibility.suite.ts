import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { allAtNight } from '../setup/at-night.ts';
import { ALL, PATIENCE, type Playground } from './open-playground.ts';
import { panelFaults } from './panel-faults.ts';

const AXE = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));
/** A phone, a tablet, a wide screen. */
const WIDTHS = allAtNight([390, 1024, 1600], [390]);
/** The elements are the same at any width. */
const AXE_WIDTH = 390;
const SCHEMES = ['light', 'dark'] as const;

/** The element with the first answer of each panel, and the answer. */
const FIRST_ANSWERS: Readonly<Record<string, readonly [selector: string, text: string | RegExp]>> =
  {
    Start: ['[data-part="documents"]', ALL],
    Data: ['[data-part="count"]', ALL],
    Query: ['[data-part="found"]', /cities/],
    Dashboard: ['[data-part="fill-shop"]', 'Fill the shop'],
    Backups: ['main select >> nth=0', /cities/i],
    Search: ['.search-hits > li >> nth=0', /backup/i],
    Storage: ['[data-part="usage"]', 'MB'],
    Durability: ['[data-part="unsaved"]', '0'],
    Tabs: ['[data-part="leader"]', 'This tab'],
    Transactions: ['[data-part="sum"]', '150'],
    Sync: ['[data-device="laptop"] .item-list > li >> nth=2', /^/], // the last item to arrive
    Devtools: ['cairn-devtools .summary', /^1–50 of/],
    Speed: ['[data-part="machine"]', /^Chrom/],
  };

/** Checks of every panel, with all cities loaded. */
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

    test('nothing is cut off or left blank from a phone to a wide screen, and axe reports nothing; screenshots of each', async () => {
      const { page } = site;
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: width < 600 ? 844 : 1000 });
        for (const title of titles) {
          await site.openPanel(title);
          await hasCome(title);
          expect(await panelFaults(page), `${title} at ${width}`).toEqual([]);
          const name = title.toLowerCase().replaceAll(' ', '-');
          for (const colorScheme of allAtNight(SCHEMES, SCHEMES.slice(0, 1))) {
            await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
            await site.screenshot(`${name}-${width}-${colorScheme}`);
            if (width === AXE_WIDTH)
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

    /** Waits for the first answer of a panel. */
    async function hasCome(title: string): Promise<void> {
      const [selector, text] = FIRST_ANSWERS[title] ?? [];
      if (!selector || !text) throw new Error(`It is not known what ${title} shows at first.`);
      await expect.poll(() => site.page.locator(selector).innerText(), PATIENCE).toMatch(text);
    }
  });
}
