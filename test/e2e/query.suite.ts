import { beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE, type Playground } from './open-playground.ts';

/** The panel Query, with all cities loaded. */
export function querySuite(shared: () => Playground): void {
  describe('query', () => {
    let site: Playground;

    const editor = () =>
      site.page.getByRole('textbox', { name: 'Criteria, a pipeline or a function' });
    const plan = () => site.part('plan').innerText();
    const code = () => site.page.getByRole('region', { name: 'This query, as code' }).innerText();
    const problem = () => site.page.locator('#query-problem').innerText();

    async function type(text: string): Promise<void> {
      await editor().focus();
      await site.page.keyboard.press('Control+a');
      await site.page.keyboard.insertText(text);
    }

    async function ask(text: string): Promise<void> {
      await type(text);
      await site.page.keyboard.press('Control+Enter');
    }

    beforeAll(async () => {
      site = shared();
      await site.openPanel('Query');
    });

    test('an index replaces a scan, and the panel shows the difference', async () => {
      const { page, part } = site;
      await expect.poll(plan, PATIENCE).toMatch(/Scan[\s\S]*135,233\s*examined[\s\S]*\b90\b/);
      await page.getByRole('switch', { name: 'country' }).click();
      await expect
        .poll(plan, PATIENCE)
        .toMatch(/Index country: = Spain[\s\S]*6,972\s*keys[\s\S]*\b90\b/);
      const difference = await part('comparison').innerText();
      expect(difference).toMatch(/Without an index[\s\S]*135,233[\s\S]*With country[\s\S]*6,972/);
      await site.screenshot('query');
      await expect.poll(code).toContain("indexes: ['country']");
      await page.getByRole('switch', { name: 'country' }).click();
      await expect.poll(plan, PATIENCE).toContain('Scan');
    });

    test('an error shows a message and is marked in the text', async () => {
      const { page } = site;
      await ask("{ $or: [{ name: 'Rome' }, { population: { $gtt: 5 } }] }");
      await expect.poll(problem).toContain('$gtt');
      expect(await page.locator('.cm-lintRange-error').innerText()).toBe('$gtt');
      await ask('{ population: ');
      await expect.poll(problem).toContain('not valid yet');
      await expect.poll(() => page.locator('.cm-lintRange-error').count()).toBe(1);
      await ask('(city) => city.mayor.name');
      await expect.poll(problem).toContain('The function threw');
      await ask('{ name: "Rome" }');
      await expect.poll(problem).toBe('');
      await expect.poll(() => site.part('found').innerText()).toMatch(/^\d cities/);
    });

    test('fields of the data and operators are completed where they are allowed', async () => {
      const { page } = site;
      const options = () => page.locator('.cm-completionLabel').allInnerTexts();
      await type('{ ');
      await page.keyboard.type('loc');
      await expect.poll(options).toContain('location.latitude');
      await page.keyboard.press('Escape');
      await type('{ population: { ');
      await page.keyboard.type('$g');
      await expect.poll(options).toContain('$gte');
      expect(await options()).not.toContain('population');
      await page.keyboard.press('Escape');
      await type('[{ ');
      await page.keyboard.type('$g');
      await expect.poll(options).toContain('$group');
      await page.keyboard.press('Escape');
      await type('[{ $group: { _id: "$country", total: { ');
      await page.keyboard.type('$s');
      await expect.poll(options).toContain('$sum');
      await page.keyboard.press('Escape');
    });

    test('a pipeline is drawn as bars, and its errors are marked', async () => {
      const { page, part } = site;
      await page.getByRole('button', { name: 'Inhabitants by country' }).click();
      await expect.poll(plan, PATIENCE).toMatch(/135,233[\s\S]*4 stages[\s\S]*\b12\b/);
      await expect.poll(() => part('groups').innerText()).toMatch(/inhabitants[\s\S]*China/);
      await expect.poll(() => part('found').innerText()).toMatch(/^12 results/);
      await expect.poll(code).toContain('await cities.aggregate([');
      await site.screenshot('pipeline');
      await ask('[{ $match: {} }, { $group: { _id: null, all: { $summ: 1 } } }]');
      await expect.poll(problem).toContain('$summ');
      expect(await page.locator('.cm-lintRange-error').innerText()).toBe('$summ');
      await ask('{ name: "Rome" }');
      await expect.poll(() => part('found').innerText()).toMatch(/^\d cities/);
    });

    test('a function finds matches that no criteria can express', async () => {
      await site.page.getByRole('button', { name: 'Palindromes' }).click();
      await expect
        .poll(() => site.part('found').innerText(), PATIENCE)
        .toMatch(/At least 50 cities/);
      expect(await editor().innerText()).toContain('reverse()');
      await expect.poll(plan).toMatch(/Your function[\s\S]*\d,\d{3}\s*examined[\s\S]*\b50\b/);
      expect(site.errors).toEqual([]);
    });
  });
}
