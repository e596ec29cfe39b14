import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { TabScope } from './page/page.ts';
import { crash, openBrowser, PAIRS, type Tab, type TabBrowser } from './tabs.ts';

declare const window: TabScope;

let browser: TabBrowser;
let name = '';
let names = 0;

beforeAll(async () => {
  browser = await openBrowser();
});

afterEach(() => browser.closeTabs());

afterAll(() => browser.close());

type Door = 'connect' | 'Database';

/** What a page passes as key; `undefined` opens without encryption. */
type Secret = { readonly password: string } | { readonly fill: number } | undefined;

async function page(): Promise<Tab> {
  const tab = await browser.watch();
  await tab.waitForFunction(() => 'connect' in window);
  return tab;
}

/** Opens a client in a page, and calls it: what the call brings, or the code of its error. */
function open(tab: Tab, secret: Secret, door: Door = 'connect', document?: string) {
  return tab.evaluate(
    async ([name, secret, door, document]) => {
      const key = secret && ('fill' in secret ? new Uint8Array(32).fill(secret.fill) : secret);
      const storage = key ? window.encrypted('indexeddb', { key }) : 'indexeddb';
      window.db =
        door === 'connect'
          ? window.connect({ name, storage })
          : (new window.Database({ name, storage }) as TabScope['db']);
      window.things = new window.db.Collection({
        ...{ name: 'things', type: 'DOCUMENT_BASED' },
        ...{ save_timeout: 3600, save_directly_after: 1_000_000 },
      });
      try {
        if (document) await window.things.insert({ _id: document });
        return (await window.things.count()) as number;
      } catch (error) {
        return (error as { code: string }).code;
      }
    },
    [name, secret, door, document] as const,
  );
}

const insert = (tab: Tab, _id: string) =>
  tab.evaluate(async (_id) => void (await window.things.insert({ _id })), _id);

const state = (tab: Tab) =>
  tab.evaluate(() => {
    const { state, leader, last_error } = window.db.status;
    return [state, leader, (last_error as { code?: string } | undefined)?.code];
  });

function change(tab: Tab, from: string, to: string) {
  return tab.evaluate(
    ([name, from, to]) =>
      window.changePassword({
        ...{ name, storage: 'indexeddb' },
        ...{ key: { password: from }, new_key: { password: to } },
      }),
    [name, from, to] as const,
  );
}

const fresh = () => {
  name = `keys ${++names}`;
};

test.each(PAIRS)('%s leads: %s with another key gets key_wrong at once', async (one, other) => {
  fresh();
  const leader = await page();
  expect(await open(leader, { password: 'right' }, one as Door, 'secret')).toBe(1);
  for (const wrong of [{ password: 'wrong' }, { fill: 1 }]) {
    const tab = await page();
    expect(await open(tab, wrong, other as Door, 'intruder')).toBe('key_wrong');
    expect(await state(tab)).toEqual(['failed', undefined, 'key_wrong']);
  }
  const plain = await page();
  expect(await open(plain, undefined, other as Door, 'intruder')).toBe('key_missing');
  const follower = await page();
  expect(await open(follower, { password: 'right' }, other as Door, 'own')).toBe(2);
  expect((await state(follower)).slice(0, 2)).toEqual(['open', false]);
  await leader.close();
  expect(await follower.evaluate(() => window.things.count())).toBe(2);
});

test('beside a leader without a key an encrypted client gets not_encrypted, and tells it nothing', async () => {
  fresh();
  const leader = await page();
  expect(await open(leader, undefined, 'connect', 'a')).toBe(1);
  await leader.evaluate((name) => {
    window.heard = [];
    new BroadcastChannel(`cairn:${name}`).onmessage = ({ data }) => {
      window.heard.push(data);
      if (data.channel)
        new BroadcastChannel(data.channel).onmessage = (event) => window.heard.push(event.data);
    };
  }, name);
  const tab = await page();
  expect(await open(tab, { password: 'right' }, 'connect', 'secret')).toBe('not_encrypted');
  expect(await leader.evaluate(() => JSON.stringify(window.heard))).not.toContain('secret');
  expect(await leader.evaluate(() => window.things.count())).toBe(1);
});

test('clients of one page prove their keys as well', async () => {
  for (const [one, other] of PAIRS) {
    fresh();
    const tab = await page();
    expect(await open(tab, { password: 'right' }, one as Door, 'a')).toBe(1);
    expect(await open(tab, { password: 'wrong' }, other as Door, 'intruder')).toBe('key_wrong');
    expect(await open(tab, undefined, other as Door, 'intruder')).toBe('key_missing');
    expect(await open(tab, { password: 'right' }, other as Door, 'b')).toBe(2);
  }
});

test('another password takes effect at once in all tabs, and nothing acknowledged is lost', async () => {
  fresh();
  const [leader, follower, other] = [await page(), await page(), await page()];
  expect(await open(leader, { password: 'old' }, 'connect', 'leader')).toBe(1);
  expect(await open(follower, { password: 'old' })).toBe(1);
  await leader.evaluate(() => window.db.save());
  await change(other, 'old', 'new');
  expect(await open(await page(), { password: 'old' })).toBe('key_wrong');
  // In the page that has it open, too.
  expect(await open(other, { password: 'old' })).toBe('key_wrong');
  expect(await open(other, { password: 'new' })).toBe(1);
  await insert(follower, 'after the change');
  await Promise.all([crash(leader), other.close()]);
  await expect.poll(() => state(follower)).toEqual(['failed', false, 'key_wrong']);
  await follower.close();
  const later = await page();
  expect(await open(later, { password: 'new' })).toBe(2);
  expect(await later.evaluate(() => window.things.get('after the change'))).toBeTruthy();
});

test('a follower with the old password leaves its changes to a tab that leads with the new one', async () => {
  fresh();
  const [leader, follower, other] = [await page(), await page(), await page()];
  expect(await open(leader, { password: 'old' }, 'connect', 'leader')).toBe(1);
  expect(await open(other, { password: 'old' })).toBe(1);
  await leader.evaluate(() => window.db.save());
  await change(leader, 'old', 'new');
  expect(await open(follower, { password: 'new' })).toBe(1);
  await insert(other, 'after the change');
  await crash(leader);
  await expect.poll(() => state(other)).toEqual(['failed', false, 'key_wrong']);
  await expect.poll(() => follower.evaluate(() => window.things.count())).toBe(2);
});
