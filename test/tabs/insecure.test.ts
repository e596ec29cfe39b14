import { expect, test } from 'vitest';
import { allAtNight } from '../setup/at-night.ts';
import type { TabScope } from './page/page.ts';
import { browserOfTests, ids, openInsecureBrowser, type Tab } from './tabs.ts';

declare const window: TabScope;

const browser = browserOfTests(openInsecureBrowser);

const open = (client: 'connect' | 'Database' = 'connect') => browser.tab(client, browser.name);

const save = (tab: Tab, _id: string) =>
  tab.evaluate(async (_id) => {
    await window.things.insert({ _id });
    await window.db.save();
  }, _id);

const PAIRS = [
  ['Database', 'connect'],
  ['connect', 'connect'],
  ['Database', 'Database'],
] as const;

test.for(allAtNight(PAIRS, PAIRS.slice(0, 1)))(
  '%s and %s over http: two tabs that write in turns lose nothing',
  async (clients) => {
    const [first, second] = [await open(clients[0]), await open(clients[1])];
    expect(await first.evaluate(() => [isSecureContext, 'locks' in navigator])).toEqual([
      false,
      false,
    ]);
    for (let round = 0; round < 3; round++) {
      await save(first, `first ${round}`);
      await save(second, `second ${round}`);
    }
    const all = ['first', 'second'].flatMap((tab) => [0, 1, 2].map((round) => `${tab} ${round}`));
    expect(await ids(second)).toEqual(all);
    await first.close();
    expect(await ids(await open(clients[0]))).toEqual(all);
  },
);

test('over http: the next page has the acknowledged changes of an ended page', async () => {
  const tab = await open();
  await tab.evaluate(() => window.things.insert({ _id: 'told' }));
  await tab.reload();
  await tab.close();
  expect(await ids(await open())).toEqual(['told']);
});
