import { expect, test } from 'vitest';
import { allAtNight } from '../setup/at-night.ts';
import type { TabScope } from './page/page.ts';
import {
  browserOfTests,
  ids,
  leads,
  openUntouchedBrowser,
  type Tab,
  type TabClient,
} from './tabs.ts';

declare const window: TabScope;

const browser = browserOfTests(openUntouchedBrowser);

const open = (client: TabClient) => browser.tab(client, browser.name);

/** Freezes a tab with its worker, as the browser does with background tabs. */
async function freeze(tab: Tab) {
  const session = await browser.context.newCDPSession(tab);
  await tab.evaluate(() => {
    window.addEventListener(
      'freeze',
      () => {
        window.frozen = true;
      },
      { capture: true },
    );
  });
  await session.send('Page.setWebLifecycleState', { state: 'frozen' });
  // Only a test can still run scripts there.
  await expect.poll(() => tab.evaluate(() => window.frozen)).toBe(true);
  return { wake: () => session.send('Page.setWebLifecycleState', { state: 'active' }) };
}

/** Hides the freeze event from the page, as in browsers without it. */
const hideFreezing = (tab: Tab) =>
  tab.evaluate(() => {
    window.addEventListener('freeze', (event: Event) => event.stopPropagation(), { capture: true });
  });

const CASES = [
  ['connect', 'with the freeze event'],
  ['connect', 'without the freeze event'],
  ['Database', 'with the freeze event'],
  ['opfs', 'with the freeze event'],
] as const;

test.for(allAtNight(CASES, CASES.slice(0, 2)))(
  '%s, %s: a frozen leader is replaced, and follows after it wakes up',
  async ([client, how]) => {
    const leader = await open(client);
    const follower = await open(client === 'opfs' ? client : 'connect');
    await leader.evaluate(() => window.things.insert({ _id: 'a', n: 1 }));
    await follower.evaluate(() => window.things.insert({ _id: 'b', n: 1 }));
    if (how === 'without the freeze event') await hideFreezing(leader);
    const { wake } = await freeze(leader);

    // The call waits for the frozen leader, the next one answers it, and it is applied once.
    await follower.evaluate(async () => {
      await Promise.all([
        window.things.insert({ _id: 'c' }),
        window.things.update('b', { n: 2 }),
        window.numbers.increase('visits', 1),
      ]);
      await window.db.save();
    });
    expect(await leads(follower)).toBe(true);

    await wake();
    await leader.evaluate(() => window.things.insert({ _id: 'd' }));
    await expect.poll(() => leads(leader)).toBe(false);
    expect(await leads(follower)).toBe(true);
    // The old leader has replayed its acknowledged unsaved changes.
    for (const tab of [leader, follower]) {
      expect(await ids(tab)).toEqual(['a', 'b', 'c', 'd']);
      expect(await tab.evaluate(() => window.things.get('b'))).toMatchObject({ n: 2 });
      expect(await tab.evaluate(() => window.numbers.get('visits'))).toBe(1);
    }
  },
);
