import { expect, test } from 'vitest';
import { allAtNight } from '../setup/at-night.ts';
import type { TabScope } from './page/page.ts';
import { browserOfTests, ids, openBrowser, PAIRS, type Tab } from './tabs.ts';

declare const window: TabScope;

const browser = browserOfTests(openBrowser);

const open = (client: 'connect' | 'Database' = 'connect') => browser.tab(client, browser.name);

const status = (tab: Tab) => tab.evaluate(() => ({ ...window.db.status }));

for (const clients of allAtNight(PAIRS, PAIRS.slice(0, 2))) {
  test(`${clients.join(' and ')}: the first leads, both see the changes of both`, async () => {
    const first = await open(clients[0]);
    const second = await open(clients[1]);
    expect(await status(first)).toMatchObject({ leader: true, state: 'open' });
    expect(await status(second)).toMatchObject({ leader: false, engine: 'tab', state: 'open' });
    await first.evaluate(() => window.things.insert({ _id: 'a' }));
    await second.evaluate(() => window.things.insert({ _id: 'b' }));
    expect(await ids(first)).toEqual(['a', 'b']);
    expect(await ids(second)).toEqual(['a', 'b']);
  });

  test(`${clients.join(' and ')}: when the leader closes, the follower loses no acknowledged change`, async () => {
    const first = await open(clients[0]);
    const second = await open(clients[1]);
    await second.evaluate(() => window.things.insert({ _id: 'b', n: 1 }));
    await first.evaluate(() => window.things.update('b', { n: 2 }));
    await second.evaluate(() => window.things.insertMany([{ _id: 'c' }, { _id: 'd' }]));
    await first.close();
    expect(await ids(second)).toEqual(['b', 'c', 'd']);
    expect(await status(second)).toMatchObject({ leader: true });
  });
}
