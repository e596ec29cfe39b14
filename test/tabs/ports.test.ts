import { beforeAll, expect, test } from 'vitest';
import { allAtNight, testAtNight } from '../setup/at-night.ts';
import type { TabScope } from './page/page.ts';
import { browserOfTests, ids, leads, openUntouchedBrowser, PAIRS, type Tab } from './tabs.ts';

declare const window: TabScope;

const browser = browserOfTests(openUntouchedBrowser, { mayFail: true });

beforeAll(() =>
  // Counts messages of pages on BroadcastChannels.
  browser.context.addInitScript(() => {
    window.sent = 0;
    const { postMessage } = BroadcastChannel.prototype;
    BroadcastChannel.prototype.postMessage = function (message) {
      window.sent++;
      postMessage.call(this, message);
    };
  }),
);

const open = (client: 'connect' | 'Database') => browser.tab(client, browser.name);

/** How many messages a call costs on BroadcastChannels. */
const sentByCall = (tab: Tab) =>
  tab.evaluate(async () => {
    const before = window.sent;
    await window.things.get('a');
    return window.sent - before;
  });

const usesPort = (tab: Tab) => expect.poll(() => sentByCall(tab), { timeout: 10_000 }).toBe(0);

for (const clients of allAtNight(PAIRS, PAIRS.slice(0, 1))) {
  test(`${clients.join(' and ')}: calls switch to a port and keep their order`, async () => {
    const leader = await open(clients[0]);
    const follower = await open(clients[1]);
    const counted = await follower.evaluate(async () => {
      const answers: number[] = [];
      const asked: Promise<unknown>[] = [];
      // Until enough calls in a row have used the port.
      for (let byPort = 0; byPort < 50; ) {
        const before = window.sent;
        const told = window.numbers.increase('n', 1) as Promise<number>;
        asked.push(told.then((n) => answers.push(n)));
        await new Promise((resolve) => setTimeout(resolve, 1));
        byPort = window.sent === before ? byPort + 1 : 0;
      }
      await Promise.all(asked);
      return answers;
    });
    expect(counted).toEqual(counted.map((_, n) => n + 1));
    await usesPort(follower);
    expect(await leader.evaluate(() => window.numbers.get('n'))).toBe(counted.length);
  });
}

testAtNight?.(
  'two tabs in the back/forward cache, one after the other, return and have a port again',
  async () => {
    const first = await open('connect');
    const second = await open('connect');
    await usesPort(second);
    for (const [rests, stays] of [
      [second, first],
      [first, second],
    ] as const) {
      await rests.goto(`${browser.url}?elsewhere`);
      await stays.evaluate(
        (_id) => window.things.insert({ _id }),
        `by ${await stays.url()} ${rests === first}`,
      );
      expect(await leads(stays)).toBe(true);
      await rests.goBack({ waitUntil: 'commit' });
      expect(await rests.evaluate(() => 'db' in window)).toBe(true);
      expect(await ids(rests)).toEqual(await ids(stays));
      expect(await leads(rests)).toBe(false);
      await usesPort(rests);
    }
  },
);

test("under a policy of 'self' alone a follower gets its port from a file, and the browser reports nothing", async () => {
  const leader = await open('connect');
  const follower = await browser.tab('connect', 'another');
  await follower.evaluate(async (shared) => {
    const policy = document.createElement('meta');
    policy.httpEquiv = 'Content-Security-Policy';
    policy.content = "worker-src 'self'";
    document.head.append(policy);
    window.db = window.connect({ name: shared });
    window.things = new window.db.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
    await window.things.insert({ _id: 'a' });
  }, browser.name);
  expect(await ids(leader)).toEqual(['a']);
  await usesPort(follower);
  expect(browser.errors).toEqual([]);
});

test('with shared_worker: false, or a worker of its own, a follower stays on the BroadcastChannel', async () => {
  await open('connect');
  const follower = await browser.tab('connect', 'another');
  await follower.evaluate(async (shared) => {
    const { SharedWorker } = window;
    window.sharedWorkers = 0;
    window.SharedWorker = function Counted(...args: ConstructorParameters<typeof SharedWorker>) {
      window.sharedWorkers++;
      return new SharedWorker(...args);
    } as unknown as typeof SharedWorker;
    const worker = () => new Worker('unused.js');
    const clients = [{ shared_worker: false }, { worker }, {}].map((options) =>
      window.connect({ name: shared, ...options }),
    );
    for (const client of clients) await client.ready;
    window.db = clients[2] as typeof window.db;
    window.things = new window.db.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
  }, browser.name);
  // The last of the three has a port: the others had the time for theirs.
  await usesPort(follower);
  expect(await follower.evaluate(() => window.sharedWorkers)).toBe(1);
});
