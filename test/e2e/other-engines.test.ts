import { expect, inject, test } from 'vitest';
import { launchFirefox } from '../../tools/browsers/firefox.mjs';
import { launchWebKit } from '../../tools/browsers/webkit.mjs';
import { ALL, PATIENCE, runs } from './open-playground.ts';
import { servePlayground } from './playground-server.ts';

for (const [name, launch] of [
  ['firefox', launchFirefox],
  ['webkit', launchWebKit],
] as const) {
  test.runIf(runs(name))(
    `${name}: cities are loaded, one is edited, and both are there after a reload`,
    async () => {
      const { remote, remoteUrl, close } = await servePlayground(inject('playground'));
      const browser = await launch();
      try {
        const page = await browser.newPage();
        await page.goto(remoteUrl);
        const shown = (part: string) => remote.evaluate(textOf, `[data-part="${part}"]`);
        const cell = () =>
          remote.evaluate(textOf, '[aria-rowindex="2"] > [aria-colindex="3"] > .cell-text');

        await expect.poll(() => shown('documents'), PATIENCE).toBe('0');
        await remote.evaluate(click, '.import-control button');
        await expect.poll(() => shown('import-text'), PATIENCE).toContain('saved in');
        // Counted by a live query, which may be a moment behind.
        await expect.poll(() => shown('documents'), PATIENCE).toBe(ALL);
        console.log(`${name}: ${await shown('rate')} a second`);

        await remote.evaluate(click, '[href="#/data"]');
        await expect.poll(() => shown('count'), PATIENCE).toContain(`${ALL} cities`);
        await remote.evaluate(type, '[type="search"]', 'Reykjavík');
        await expect.poll(() => shown('count'), PATIENCE).toMatch(/^1 city/);
        await remote.evaluate(edit, '[aria-rowindex="2"] > [aria-colindex="3"]', '123456');
        await expect.poll(cell, PATIENCE).toBe('123,456');
        await expect.poll(() => shown('save-state'), PATIENCE).toContain('All saved');

        remote.reload();
        await expect.poll(() => shown('count'), PATIENCE).toContain(`${ALL} cities`);
        await remote.evaluate(type, '[type="search"]', 'Reykjavík');
        await expect.poll(cell, PATIENCE).toBe('123,456');
      } finally {
        await browser.close();
        await close();
      }
    },
  );
}

// What follows runs in a remote page, so it can use nothing from here.

function textOf(selector: string): string | undefined {
  return document.querySelector(selector)?.textContent?.trim();
}

function click(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.click();
}

function type(selector: string, text: string): void {
  const field = document.querySelector<HTMLInputElement>(selector);
  if (!field) return;
  field.value = text;
  field.dispatchEvent(new InputEvent('input', { bubbles: true }));
}

/** Edits a cell as a double click and the Enter key do. */
async function edit(cell: string, text: string): Promise<void> {
  document.querySelector(cell)?.dispatchEvent(new MouseEvent('dblclick', { bubbles: true }));
  let field: HTMLInputElement | null = null;
  for (let waits = 0; !field && waits < 100; waits++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    field = document.querySelector<HTMLInputElement>(`${cell} input`);
  }
  if (!field) throw new Error('no field to edit in');
  field.value = text;
  field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
}
