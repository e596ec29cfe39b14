import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { isNight } from '../setup/at-night.ts';
import type { TabScope } from './page/page.ts';
import { SteadyWork } from './steady-work.ts';
import { openBrowser, type Tab, type TabBrowser } from './tabs.ts';

declare const window: TabScope;

/**
 * `TABS_SECONDS=300 npx vitest run --project tabs test/tabs/many.test.ts` goes on for five minutes.
 */
const asked = process.env.TABS_SECONDS;
const SECONDS = Number(asked ?? 7 * inject('effort'));
const TABS = asked || isNight ? 8 : 4;

let browser: TabBrowser;

beforeEach(async () => {
  browser = await openBrowser();
});

afterEach(async () => {
  await browser.close();
});

const contents = (tab: Tab) =>
  tab.evaluate(async () => ({
    numbers: Object.fromEntries(await window.numbers.entries()) as Record<string, number>,
    things: (await window.things.filter({})).map(({ _id }: { _id: string }) => _id).sort(),
  }));

test(
  `${TABS} tabs, ${SECONDS} s, the leader closes or crashes every 3 s: no change is lost or applied twice`,
  async () => {
    const work = await SteadyWork.begin(browser, TABS);
    const begun = performance.now();
    for (let due = 3000; due <= SECONDS * 1000; due += 3000) {
      const wait = begun + due - performance.now();
      await new Promise((resolve) => setTimeout(resolve, wait));
      await work.endLeader();
      await work.add();
    }
    await work.rest();
    const rested = performance.now();
    const [first, ...others] = work.alive;
    expect(others.length).toBeGreaterThan(1);
    const { numbers, things } = await contents((first as (typeof others)[number]).tab);
    for (const { tab } of work.alive) {
      await expect
        .poll(() => tab.evaluate(() => window.lives.map((live) => live.getSnapshot().data)))
        .toEqual([numbers.all, things.length]);
    }
    const ms = (performance.now() - rested).toFixed();
    for (const { tab } of others) expect(await contents(tab)).toEqual({ numbers, things });

    let [least, most] = [0, 0];
    for (const { id, end, asked, told, saved } of work.workers) {
      // A crashed tab loses its acknowledged unsaved changes.
      const sure = end === 'crashed' ? saved : told;
      const made = numbers[`tab ${id}`] ?? 0;
      if (end) expect(made, `tab ${id}, ${end}`).toBeGreaterThanOrEqual(sure);
      else expect(made, `tab ${id}`).toBe(told);
      expect(made).toBeLessThanOrEqual(asked);
      const inserted = things.filter((name: string) => name.startsWith(`${id}/`));
      const expected = Array.from({ length: sure }, (_, n) => `${id}/${n + 1}`);
      expect(inserted).toEqual(expect.arrayContaining(expected));
      least += sure;
      most += asked;
    }
    expect(numbers.all).toBeGreaterThanOrEqual(least);
    expect(numbers.all).toBeLessThanOrEqual(most);
    const ended = work.workers.length - work.alive.length;
    console.log(`${ended} leaders, ${most} rounds; equal ${ms} ms after the last answer`);
  },
  (SECONDS + 900) * 1000,
);
