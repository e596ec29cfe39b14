import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeFolder, removeFolder } from '../../tools/browsers/child.mjs';
import { allAtNight } from '../setup/at-night.ts';
import type { TabScope } from './page/page.ts';
import { crash, openUntouchedBrowser, type Site, serveSite, type Tab } from './tabs.ts';

declare const window: TabScope;

let site: Site;
let profile: string;

beforeEach(async () => {
  site = await serveSite();
  profile = makeFolder('crash');
});

afterEach(async () => {
  await site.close();
  removeFolder(profile);
});

const open = () => openUntouchedBrowser({ site, profile });

const documents = (tab: Tab) =>
  tab.evaluate(async () => (await window.things.filter({})) as { _id: string; batch: number }[]);

/** An endless loop: inserts batches of documents, and reports the number of each durable batch. */
function insertBatches(first: number) {
  const work = async () => {
    for (let batch = first; ; batch++) {
      await window.things.insertMany(
        Array.from({ length: 50 }, (_, n) => ({ _id: `${batch}/${n}`, batch })),
      );
      window.told(batch);
      await window.db.save();
      window.saved(batch);
    }
  };
  void work();
}

/** Documents by batch. */
function sizes(all: readonly { batch: number }[]): Map<number, number> {
  const counted = new Map<number, number>();
  for (const { batch } of all) counted.set(batch, (counted.get(batch) ?? 0) + 1);
  return counted;
}

const CLIENTS = allAtNight(['connect', 'Database', 'opfs'] as const, ['connect'] as const);

describe.each(CLIENTS)('%s', (client) => {
  test('a leader crashes: acknowledged changes of another tab are kept, and applied once', async () => {
    const browser = await open();
    try {
      const leader = await browser.tab(client);
      const follower = await browser.tab(client === 'opfs' ? client : 'connect');
      await follower.evaluate(async () => {
        await window.things.insertMany([
          { _id: 'a', n: 1 },
          { _id: 'b', n: 1 },
        ]);
        await window.things.update('a', { n: 2 });
        await window.things.delete('b');
      });
      // It goes on until it leads itself; calls in flight at the failover are retried with the next
      // leader.
      const writing = follower.evaluate(async () => {
        const told: string[] = [];
        while (!window.db.status.leader) {
          const inserted = Array.from({ length: 20 }, (_, n) => window.things.insert({ n }));
          for (const { _id } of await Promise.all(inserted)) told.push(_id);
        }
        return told;
      });
      await crash(leader);
      const told = ['a', ...(await writing)];
      expect((await documents(follower)).map(({ _id }) => _id).sort()).toEqual(told.sort());
      expect(await follower.evaluate(() => window.things.get('a'))).toMatchObject({ n: 2 });
      await leader.close();
    } finally {
      await browser.close();
    }
  });

  test('the whole browser is killed while two tabs write: durable batches are kept, none is torn', async () => {
    const saved = new Set<number>();
    const killed = await open();
    await killed.context.exposeFunction('saved', (batch: number) => void saved.add(batch));
    await killed.context.exposeFunction('told', () => undefined);
    const tabs = [await killed.tab(client), await killed.tab(client)] as const;
    await Promise.all(tabs.map((tab, at) => tab.evaluate(insertBatches, at * 1_000_000)));
    await expect.poll(() => saved.size, { timeout: 30_000 }).toBeGreaterThan(30);
    await killed.kill();

    const again = await open();
    try {
      const found = sizes(await documents(await again.tab(client)));
      expect([...found.values()].every((size) => size === 50)).toBe(true);
      expect([...saved].filter((batch) => !found.has(batch))).toEqual([]);
    } finally {
      await again.close();
    }
  });
});
