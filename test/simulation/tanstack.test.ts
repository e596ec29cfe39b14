import { createCollection } from '@tanstack/db';
import { afterEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/async/clock.ts';
import { cairnCollectionOptions } from '../../src/tanstack/index.ts';
import { type Browser, simulateBrowser } from './browser.ts';
import { seedsOf } from './run-seeds.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

afterEach(() => void vi.restoreAllMocks());

const MOMENTS = 41;

interface Order {
  left: number;
  by?: number;
}

/** A tab with the orders of TanStack DB over those of Cairn. */
function open(id: number, browser: Browser) {
  const tab = new Tab(id, browser);
  const documents = new tab.db.Collection<Order>({ name: 'orders', type: 'DOCUMENT_BASED' });
  const orders = createCollection(cairnCollectionOptions({ collection: documents }));
  return { tab, documents, orders };
}

test.each<[string, (leader: Tab) => void]>([
  ['ends', (leader) => leader.kill()],
  ['is closed', (leader) => leader.close()],
  ['is frozen', (leader) => leader.freeze(8000)],
])('rows of TanStack DB never fall back, whenever the leader %s', async (_, happen) => {
  for (const seed of seedsOf(40)) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    // What a transaction waits for before it runs again.
    vi.spyOn(systemClock, 'after').mockImplementation((ms, call) =>
      world.after(ms, undefined, call),
    );
    const leader = open(0, browser);
    await world.hear(leader.documents.insert({ _id: 'a', left: 0 }));
    await world.hear(leader.tab.db.save());
    const [own, other] = [open(1, browser), open(2, browser)];
    await world.hear(Promise.all([own.orders.preload(), other.orders.preload()]));
    const seen: number[] = [];
    const subscription = own.orders.subscribeChanges((changes) => {
      for (const { key, value } of changes) if (key === 'a') seen.push(value.left);
    });
    const writes = [1, 2, 3, 4, 5].map((left) =>
      own.orders.update('a', (draft) => {
        draft.left = left;
      }),
    );
    const theirs = other.orders.update('a', (draft) => {
      draft.by = seed;
    });
    const refused = own.orders.insert({ _id: 'b', left: 0 });
    const taken = Promise.allSettled([other.documents.insert({ _id: 'b', left: 9 })]);
    await world.runUntil(world.now + (seed % MOMENTS) / 8);
    happen(leader.tab);
    const settled = [...writes, theirs].map(({ isPersisted }) => isPersisted.promise);
    await world.hear(Promise.all(settled), 60_000);
    await world.hear(Promise.allSettled([refused.isPersisted.promise, taken]), 60_000);
    await world.runUntil(world.now + 1000);
    expect([seed, seen.filter((left, at) => left < (seen[at - 1] ?? 0))]).toEqual([seed, []]);
    const stored = await world.hear(own.documents.filter({}), 10_000);
    expect([seed, stored]).toMatchObject([seed, [{ _id: 'a', left: 5, by: seed }, { _id: 'b' }]]);
    for (const { orders } of [own, other])
      expect([seed, orders.toArray]).toMatchObject([seed, stored]);
    subscription.unsubscribe();
    await world.hear(Promise.all([own.orders.cleanup(), other.orders.cleanup()]));
  }
});
