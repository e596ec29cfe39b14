import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { TabScope } from './page/page.ts';
import {
  crash,
  findLeader,
  openDatabase,
  openUntouchedBrowser,
  type Tab,
  type UntouchedBrowser,
} from './tabs.ts';

declare const window: TabScope;

/** A server that takes each key once, whose answers can be held, and that can be away. */
class Shop {
  /** What each key has made. */
  readonly made = new Map<string, string>();
  /** Requests that have arrived. */
  requests = 0;
  isAway = false;
  /** Answers come once it resolves. */
  answers: Promise<void> = Promise.resolve();

  async take(browser: UntouchedBrowser): Promise<void> {
    await browser.context.route('**/shop', async (route) => {
      const request = route.request();
      // The page may be gone when it is answered.
      if (this.isAway) return route.abort().catch(() => undefined);
      const key = request.headers()['idempotency-key'] ?? '';
      if (!this.made.has(key)) this.made.set(key, request.postData() ?? '');
      this.requests++;
      await this.answers;
      await route.fulfill({ status: 201, body: '' }).catch(() => undefined);
    });
  }

  /** What was ordered, once for each key. */
  get orders(): string[] {
    return [...this.made.values()].sort();
  }
}

/** Runs in a page. */
async function openOutbox(): Promise<void> {
  const { outbox } = await window.loadOutbox();
  const send = (item: string, { key, signal }: { key: string; signal: AbortSignal }) =>
    fetch('/shop', { method: 'POST', headers: { 'idempotency-key': key }, body: item, signal });
  window.box = outbox(window.db, {
    order: { local: (tx: any, item: string) => tx(window.things).insert({ _id: item }), send },
  });
}

/** Runs in a page: calls, whose end it remembers. */
async function order(items: readonly string[]): Promise<void> {
  const calls = await Promise.all(items.map((item) => window.box.actions.order(item)));
  window.sent = Promise.all(calls.map(({ sent }) => sent));
}

let browser: UntouchedBrowser;
let shop: Shop;

beforeAll(async () => {
  browser = await openUntouchedBrowser();
});
afterEach(async () => {
  await browser.closeTabs();
  await browser.context.unrouteAll();
});
afterAll(() => browser.close());

async function openTabs(count: number, name: string): Promise<Tab[]> {
  shop = new Shop();
  await shop.take(browser);
  const tabs: Tab[] = [];
  for (let nth = 0; nth < count; nth++) {
    const tab = await browser.tab('connect', name);
    await tab.evaluate(openOutbox);
    tabs.push(tab);
  }
  return tabs;
}

const namesOf = (tab: number) => Array.from({ length: 6 }, (_, nth) => `${tab}.${nth}`);

test.each([2, 3])(
  '%i tabs send each call once, though the leader crashes behind a request',
  async (count) => {
    const tabs = await openTabs(count, `crash-${count}`);
    let answer: () => void = () => undefined;
    shop.answers = new Promise((resolve) => {
      answer = resolve;
    });
    for (const [at, tab] of tabs.entries()) await tab.evaluate(order, namesOf(at));
    await Promise.all(tabs.map((tab) => tab.evaluate(() => window.db.save())));
    await expect.poll(() => shop.requests).toBe(1);
    const { tab: leader } = await findLeader(() => tabs.map((tab) => ({ tab })));
    await crash(leader);
    answer();
    for (const tab of tabs) if (tab !== leader) await tab.evaluate(() => window.sent);
    await expect.poll(() => shop.made.size).toBe(6 * count);
    expect(shop.orders).toEqual(tabs.flatMap((_, at) => namesOf(at)).sort());
  },
  120_000,
);

test('calls of a tab that was reloaded without a network are sent once it is back', async () => {
  const tabs = await openTabs(3, 'reload');
  shop.isAway = true;
  for (const [at, tab] of tabs.entries()) await tab.evaluate(order, namesOf(at));
  await Promise.all(tabs.map((tab) => tab.evaluate(() => window.db.save())));
  for (const tab of tabs) {
    await tab.reload();
    await tab.waitForFunction(() => 'connect' in window);
    await tab.evaluate(openDatabase, ['connect', 'reload'] as const);
    await tab.evaluate(openOutbox);
  }
  shop.isAway = false;
  await tabs[0]?.evaluate(() => window.box.retry());
  await tabs[0]?.evaluate(() => window.box.flush());
  expect(shop.orders).toEqual(tabs.flatMap((_, at) => namesOf(at)).sort());
  for (const tab of tabs) expect(await tab.evaluate(() => window.things.count())).toBe(18);
}, 120_000);

test('tabs that take tasks off one queue take each once, though one crashes', async () => {
  const tabs = await openTabs(3, 'queue');
  await tabs[0]?.evaluate(async () => {
    const tasks = Array.from({ length: 300 }, (_, n) => ({ _id: `${n}`, state: 'open' }));
    await window.things.insertMany(tasks);
    await window.db.save();
  });
  const drain = async (by: number) => {
    const taken: string[] = [];
    for (;;) {
      const task = await window.things.patchOne({ state: 'open' }, { state: 'taken', by });
      if (!task) return taken;
      taken.push(task._id);
    }
  };
  const leader = await findLeader(() => tabs.map((tab) => ({ tab })));
  const draining = tabs.map((tab, at) => tab.evaluate(drain, at).catch(() => undefined));
  await crash(leader.tab);
  const lists = await Promise.all(draining);
  const taken = lists.flatMap((some) => some ?? []);
  expect(new Set(taken).size).toBe(taken.length);
  const [survivor] = tabs.filter((tab) => tab !== leader.tab);
  const all: { _id: string; by: number }[] | undefined = await survivor?.evaluate(() =>
    window.things.filter({ state: 'taken' }),
  );
  expect(all).toHaveLength(300);
  // The one that crashed returned all that it took, if it ended first, and nothing otherwise.
  for (const [at, list] of lists.entries()) {
    const stored = all?.filter(({ by }) => by === at).map(({ _id }) => _id);
    if (list) expect(list.sort()).toEqual(stored?.sort());
  }
}, 120_000);
