import { expect, inject, test } from 'vitest';
import { launchFirefox } from '../../tools/browsers/firefox.mjs';
import { launchWebKit } from '../../tools/browsers/webkit.mjs';
import { testAtNight } from '../setup/at-night.ts';
import { ALL, PATIENCE, runs } from './open-playground.ts';
import { servePlayground } from './playground-server.ts';
import type { RemotePage } from './remote-page.ts';

for (const [name, launch] of [
  ['firefox', launchFirefox],
  ['webkit', launchWebKit],
] as const) {
  // All cities take one of these a minute to import.
  testAtNight?.runIf(runs(name))(
    `${name}: loaded cities and an edit survive a reload`,
    async () => {
      const { remotes, remoteUrls, close } = await servePlayground(inject('playground'));
      const [remote] = remotes;
      const browser = await launch();
      try {
        const page = await browser.newPage();
        await page.goto(remoteUrls[0]);
        const shown = (part: string) => remote.evaluate(textOf, `[data-part="${part}"]`);
        const cell = () =>
          remote.evaluate(textOf, '[aria-rowindex="2"] > [aria-colindex="3"] > .cell-text');

        await expect.poll(() => shown('documents'), PATIENCE).toBe('0');
        await remote.evaluate(click, '.import-control button');
        await expect.poll(() => shown('import-text'), PATIENCE).toContain('saved in');
        // A live query counts, so the number may lag.
        await expect.poll(() => shown('documents'), PATIENCE).toBe(ALL);
        console.log(`${name}: ${await shown('rate')} a second`);

        await remote.evaluate(click, '[href="#/data"]');
        await expect.poll(() => shown('count'), PATIENCE).toContain(`${ALL} cities`);
        await remote.evaluate(type, '[type="search"]', 'Reykjavík');
        await expect.poll(() => shown('count'), PATIENCE).toMatch(/^1 city/);
        await expect.poll(cell, PATIENCE).toBe('118,918');
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

  const testOnce = name === 'webkit' ? test : testAtNight;
  testOnce?.runIf(runs(name))(
    `${name}: two tabs see the writes of both, and lose none when one crashes or closes`,
    async () => {
      const { remoteUrls, close, ...site } = await servePlayground(inject('playground'));
      const remotes = site.remotes.slice(0, 2);
      const browser = await launch();
      try {
        await browser.openTabs(remoteUrls.slice(0, 2).map((url) => `${url}#/tabs`));
        const shown = (tab: RemotePage, part: string) =>
          tab.evaluate(textOf, `[data-part="${part}"]`);
        const leaders = () => Promise.all(remotes.map((tab) => shown(tab, 'leader')));
        const stones = async (count: string) => {
          for (const tab of remotes)
            await expect.poll(() => shown(tab, 'stones'), PATIENCE).toBe(count);
        };
        const lastEvent = (tab: RemotePage) => tab.evaluate(textOf, '[data-part="events"] p');

        const [one, other] = ['This tab', 'Another tab'];
        await expect.poll(async () => (await leaders()).sort(), PATIENCE).toEqual([other, one]);
        const [leader, follower] = (await leaders())[0] === one ? remotes : remotes.toReversed();
        if (!leader || !follower) throw new Error('there are two');

        await follower.evaluate(type, '[aria-label="First note"]', 'from the other');
        await expect
          .poll(() => leader.evaluate(typedIn, '[aria-label="First note"]'), PATIENCE)
          .toBe('from the other');
        await leader.evaluate(click, '.heap-foot button');
        await follower.evaluate(click, '.heap-foot button');
        await stones('2');

        await follower.evaluate(click, '.tabs-buttons button');
        await stones('3');
        for (const tab of remotes)
          await expect.poll(() => lastEvent(tab), PATIENCE).toContain('Nothing was lost');
        console.log(`${name}: ${await lastEvent(leader)}`);

        // In some browsers a crash of the leader's page loses its acknowledged unsaved changes.
        await expect.poll(() => shown(leader, 'unsaved'), PATIENCE).toBe('0');
        await follower.evaluate(click, '.heap-foot button');
        await stones('4');
        leader.leave();
        await expect
          .poll(() => lastEvent(follower), PATIENCE)
          .toMatch(/This tab leads now.*all 3 stones/);
        console.log(`${name}: ${await lastEvent(follower)}`);
        expect(await shown(follower, 'stones')).toBe('4');
      } finally {
        await browser.close();
        await close();
      }
    },
  );

  // Each time firefox.test.ts and webkit.test.ts end pages.
  testAtNight?.runIf(runs(name))(
    `${name}: the writes of a tab that closes itself at once are all kept`,
    async () => {
      const { remotes, remoteUrls, close } = await servePlayground(inject('playground'));
      const [remote] = remotes;
      const browser = await launch();
      try {
        await browser.openTabs([`${remoteUrls[0]}#/durability`]);
        const shown = (part: string) => remote.evaluate(textOf, `[data-part="${part}"]`);
        await expect.poll(() => shown('unsaved'), PATIENCE).toBe('0');
        // WebKit keeps up to a million characters of an ending page.
        const choices = { '1': '1', '500': '500', ...(name !== 'webkit' && { '20000': '20,000' }) };
        for (const [choice, written] of Object.entries(choices)) {
          await remote.evaluate(click, `[name="count"][value="${choice}"]`);
          await remote.evaluate(click, '.trial-buttons .primary');
          await expect
            .poll(() => shown('recovered'), PATIENCE)
            .toBe(`${written} of ${written} recovered`);
          console.log(`${name}: ${await shown('outcome')}`);
        }
      } finally {
        await browser.close();
        await close();
      }
    },
  );

  testAtNight?.runIf(runs(name))(
    `${name}: two devices replicate with a server in the page`,
    async () => {
      const { remotes, remoteUrls, close } = await servePlayground(inject('playground'));
      const [remote] = remotes;
      const browser = await launch();
      try {
        await browser.openTabs([`${remoteUrls[0]}#/sync`]);
        const has = (count: number) =>
          expect
            .poll(
              () => remote.evaluate(countOf, '[data-device="laptop"] .item-list > li'),
              PATIENCE,
            )
            .toBe(count);
        await has(3);
        await remote.evaluate(click, '[data-device="phone"] .item-delete');
        await has(2);
      } finally {
        await browser.close();
        await close();
      }
    },
  );
}

// The rest runs in a remote page and can use nothing from this module.

function textOf(selector: string): string | undefined {
  return document.querySelector(selector)?.textContent?.trim();
}

function countOf(selector: string): number {
  return document.querySelectorAll(selector).length;
}

function typedIn(selector: string): string | undefined {
  return document.querySelector<HTMLInputElement>(selector)?.value;
}

function click(selector: string): void {
  const element = document.querySelector<HTMLElement>(selector);
  if (!element) throw new Error(`There is no ${selector} to click.`);
  element.click();
}

function type(selector: string, text: string): void {
  const field = document.querySelector<HTMLInputElement>(selector);
  if (!field) throw new Error(`There is no ${selector} to type into.`);
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
