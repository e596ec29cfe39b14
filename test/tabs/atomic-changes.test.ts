import { expect, test } from 'vitest';
import type { TabScope } from './page/page.ts';
import { browserOfTests, leads, openBrowser, type Tab } from './tabs.ts';

declare const window: TabScope;

const browser = browserOfTests(openBrowser);

/** Makes 100 changes of each kind at once, and resolves when all are acknowledged. */
const change = (tab: Tab) =>
  tab.evaluate(async () => {
    const { things, numbers } = window;
    const add = (thing: { modified: number }) => ({ ...thing, modified: thing.modified + 1 });
    const rounds = Array.from({ length: 100 }, () => [
      things.patch('counter', { $inc: { patched: 1 }, $push: { log: 1 } }),
      things.modify('counter', add),
      things.patchMany({}, { $inc: { patchedMany: 1 } }),
      numbers.modify('counter', (count = 0) => count + 1),
    ]);
    await Promise.all(rounds.flat());
  });

const counts = (tab: Tab) =>
  tab.evaluate(async () => {
    const { log, ...counter } = await window.things.get('counter');
    return { ...counter, logged: log.length, number: await window.numbers.get('counter') };
  });

test('two tabs that change a counter at once lose no change', async () => {
  const tabs = [await browser.tab('connect', 'counter'), await browser.tab('connect', 'counter')];
  const [first, second] = tabs as [Tab, Tab];
  await first.evaluate(() =>
    window.things.insert({ _id: 'counter', patched: 0, modified: 0, patchedMany: 0, log: [] }),
  );
  await Promise.all(tabs.map(change));
  const expected = { patched: 200, modified: 200, patchedMany: 200, logged: 200, number: 200 };
  for (const tab of tabs) expect(await counts(tab)).toMatchObject(expected);

  // Leaves: a closed page that is busy for half a second ends without its `pagehide` (decision
  // 017).
  await first.goto(browser.url);
  await expect.poll(() => leads(second)).toBe(true);
  await change(second);
  const more = { patched: 300, modified: 300, patchedMany: 300, logged: 300, number: 300 };
  expect(await counts(second)).toMatchObject(more);
  expect(browser.errors).toEqual([]);
});

test('three tabs that drain a queue take each job once', async () => {
  const tabs = await Promise.all([1, 2, 3].map(() => browser.tab('connect', 'queue')));
  const [first] = tabs as [Tab];
  await first.evaluate(() =>
    window.things.insertMany(Array.from({ length: 150 }, (_, n) => ({ n, state: 'new' }))),
  );
  const drain = (tab: Tab) =>
    tab.evaluate(async () => {
      const taken: number[] = [];
      for (;;) {
        const ask = () =>
          window.things.patchOne(
            { state: 'new' },
            { $set: { state: 'taken' } },
            { sort: { n: 1 } },
          );
        const jobs = await Promise.all([ask(), ask(), ask()]);
        for (const job of jobs) if (job) taken.push(job.n);
        if (jobs.includes(undefined)) return taken;
      }
    });
  const taken = await Promise.all(tabs.map(drain));
  expect(taken.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 150 }, (_, n) => n));
  const counters = await Promise.all(
    tabs.map((tab) =>
      tab.evaluate(() =>
        window.things.patchOne({ name: 'visits' }, { $inc: { n: 1 } }, { upsert: true }),
      ),
    ),
  );
  expect(new Set(counters.map((counter) => counter?._id)).size).toBe(1);
  expect(counters.map((counter) => counter?.n).sort()).toEqual([1, 2, 3]);
  expect(browser.errors).toEqual([]);
});
