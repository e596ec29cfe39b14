import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runs } from '../../e2e/open-playground.ts';
import { allAtNight, isNight } from '../../setup/at-night.ts';
import type { TabScope } from '../page/page.ts';
import { type AnyBrowser, type AnyTab, engines } from './engines.ts';
import { type HeldMoment, type SyncSite, serveSync } from './sync-site.ts';

declare const window: TabScope;

interface HowOpened {
  readonly scopes?: object[];
  /** Bytes of a key that the server does not have. */
  readonly key?: readonly number[];
}

/** Runs in a page: replicates its orders. */
async function openOrders(name: string, url: string, { scopes, key }: HowOpened): Promise<void> {
  const { http, replicate } = await window.loadReplication();
  window.db = window.connect({ name });
  window.orders = new window.db.Collection({ name: 'orders', type: 'DOCUMENT_BASED' });
  window.sync = replicate(window.orders, {
    remote: http({ url, ...(key && { encrypt: { key: Uint8Array.from(key) } }) }),
    ...(scopes && { scopes }),
    ...(key && { files: 'lazy' }),
    merge: { list: { by: 'id' } },
  });
  await window.orders.ready;
}

const insert = (tab: AnyTab, ...ids: string[]) =>
  tab.run(async (names) => {
    await window.orders.insertMany(names.map((_id) => ({ _id })));
  }, ids);
const ids = (tab: AnyTab) =>
  tab.run(async () =>
    (await window.orders.filter({})).map((one: { _id: string }) => one._id).sort(),
  );
const settle = (tab: AnyTab) => tab.run(() => window.sync.settled({ timeout: 60_000 }));
const stateOf = (tab: AnyTab) => tab.run(() => window.sync.status.state as string);
const figuresOf = (tab: AnyTab) =>
  tab.run(() => {
    const { pending, rejected, last_sync } = window.sync.status;
    return { pending, rejected, last_sync: last_sync?.getTime() };
  });
const conflictsOf = (tab: AnyTab) => tab.run(() => window.sync.conflicts());

/** The leader and the loop are the same in each browser. */
const ENGINES = Object.entries(engines).filter(
  ([name]) => runs(name) && (isNight || name === 'chromium'),
);

describe.for(ENGINES)('%s', ([engine, start]) => {
  let browser: AnyBrowser;
  let server: SyncSite;
  let name: string;
  let names = 0;
  let leader: AnyTab;
  let follower: AnyTab;
  let tabs: AnyTab[] = [];

  const documents = async () => Object.keys(await server.documents(name)).sort();
  const end = async (tab: AnyTab, how: 'close' | 'crash' = 'close') => {
    tabs = tabs.filter((one) => one !== tab);
    await tab[how]?.();
  };

  async function open(device = name, how: HowOpened = {}): Promise<AnyTab> {
    const tab = await browser.open();
    tabs.push(tab);
    await tab.run(openOrders, device, `${server.url}/${name}`, how);
    return tab;
  }

  beforeAll(async () => {
    [browser, server] = await Promise.all([start(), serveSync()]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });
  beforeEach(async () => {
    name = `orders-${++names}`;
    leader = await open();
    await settle(leader);
    follower = await open();
  });
  afterEach(async () => {
    for (const tab of tabs) await end(tab);
  });

  test('the page that leads replicates, the other one shows the same figures', async () => {
    expect(await stateOf(follower)).toBe('elsewhere');
    await insert(follower, 'a', 'b');
    await insert(leader, 'c');
    await settle(follower);
    expect(await documents()).toEqual(['a', 'b', 'c']);
    await server.write(name, { _id: 'd' });
    for (const tab of [leader, follower])
      await expect.poll(() => ids(tab)).toEqual(['a', 'b', 'c', 'd']);
    await settle(follower);
    expect(await stateOf(leader)).toBe('idle');
    expect(await stateOf(follower)).toBe('elsewhere');
    const figures = { pending: 0, rejected: 0, last_sync: expect.any(Number) };
    expect(await figuresOf(leader)).toEqual(figures);
    await expect.poll(() => figuresOf(follower)).toEqual(await figuresOf(leader));
    expect(await server.changes(name)).toBe(4);
  });

  const endings = engine === 'chromium' ? (['close', 'crash'] as const) : (['close'] as const);
  const cases = endings.flatMap((how) =>
    (['before', 'after'] satisfies HeldMoment[]).map((moment) => ({ how, moment })),
  );
  const some = cases.filter(({ how, moment }) => (how === 'crash') === (moment === 'after'));

  test.for(allAtNight(cases, some))(
    'the leading tab ends ($how) in a push, $moment it takes effect: the other one goes on',
    async ({ how, moment }) => {
      await insert(leader, 'seen');
      await settle(follower);
      const push = server.hold(moment);
      await insert(leader, 'a', 'b');
      await push.held;
      await insert(follower, 'c');
      await follower.run(() => window.orders.patch('a', { note: 'urgent' }));
      await end(leader, how);
      await settle(follower);
      // WebKit ends a page some time after it was closed.
      await expect.poll(() => stateOf(follower)).toBe('idle');
      const changes = await server.changes(name);
      await push.release(); // too late to have an effect
      expect(await server.changes(name)).toBe(changes);
      expect(await documents()).toEqual(['a', 'b', 'c', 'seen']);
      expect(await ids(follower)).toEqual(['a', 'b', 'c', 'seen']);
      expect((await server.documents(name)).a).toMatchObject({ note: 'urgent' });
      // the edit is a change of its own where the server had its document already
      expect(changes).toBe(moment === 'before' ? 4 : 5);
      expect(await conflictsOf(follower)).toEqual([]);
      expect(await figuresOf(follower)).toMatchObject({ pending: 0, rejected: 0 });
    },
  );

  test('offline, two devices count, one of them in two tabs: each count is there', async () => {
    await leader.run(async () => {
      await window.orders.insert({ _id: 'a', left: 10, list: [{ id: 1 }, { id: 2 }] });
    });
    await settle(leader);
    const other = await open(`${name} elsewhere`);
    await settle(other);
    await server.cut();
    for (const tab of [leader, follower, other])
      for (let count = 0; count < 3; count++)
        await tab.run(async () => {
          await window.orders.patch('a', { $inc: { left: -1 } });
        });
    await leader.run(async () => {
      await window.orders.patch('a', { 'list.0.done': true });
    });
    await other.run(async () => {
      await window.orders.patch('a', { 'list.1.done': true });
    });
    await server.listen();
    for (const tab of [leader, other, leader, follower]) await settle(tab);
    const list = [
      { id: 1, done: true },
      { id: 2, done: true },
    ];
    expect(await server.documents(name)).toMatchObject({ a: { left: 1, list } });
    for (const tab of [leader, follower, other]) {
      const found = () => tab.run(() => window.orders.get('a'));
      await expect.poll(found).toMatchObject({ left: 1, list });
      expect(await conflictsOf(tab)).toEqual([]);
    }
  });

  test('two tabs have the documents of a scope; what leaves it goes, its change first', async () => {
    await server.write(name, { _id: 'mine', owner: 'ada' });
    await server.write(name, { _id: 'other', owner: 'ben' });
    const scopes = [{ owner: 'ada' }];
    const [first, second] = [
      await open(`${name} of ada`, { scopes }),
      await open(`${name} of ada`, { scopes }),
    ];
    for (const tab of [first, second]) {
      await settle(tab);
      await expect.poll(() => ids(tab)).toEqual(['mine']);
    }
    await server.cut();
    await second.run(() => window.orders.patch('mine', { note: 'urgent' }));
    await server.write(name, { _id: 'mine', owner: 'ben' });
    await server.listen();
    await settle(second);
    expect((await server.documents(name)).mine).toEqual({
      ...{ _id: 'mine', owner: 'ben', note: 'urgent', _updated: true },
    });
    for (const tab of [first, second]) expect(await ids(tab)).toEqual([]);
    await second.run(() => window.sync.scopes.add({ owner: 'ben' }, { keep: '1h' }));
    await settle(second);
    for (const tab of [first, second]) await expect.poll(() => ids(tab)).toEqual(['mine', 'other']);
    await first.run(() => window.sync.scopes.remove({ owner: 'ben' }));
    await settle(first);
    for (const tab of [first, second]) await expect.poll(() => ids(tab)).toEqual([]);
  });

  test('a sealed document and its photo are read by another device, and not by the server', async () => {
    const key = Array.from({ length: 32 }, (_, at) => at);
    const first = await open(`${name} sealed`, { key });
    await first.run(async () => {
      const photo = new Blob(['a secret photo'.repeat(100_000)], { type: 'image/png' });
      await window.orders.insert({ _id: 'a', note: 'a secret', photo });
    });
    await settle(first);
    const stored = JSON.stringify(await server.documents(name));
    expect(stored).toContain('_sealed');
    expect(stored).not.toContain('secret');
    const other = await open(`${name} sealed elsewhere`, { key });
    await settle(other);
    const read = await other.run(async () => {
      const photo: Blob = await window.sync.file('a', 'photo');
      const { note } = await window.orders.get('a');
      return { note, size: photo.size, type: photo.type, text: (await photo.text()).slice(0, 14) };
    });
    expect(read).toEqual({
      ...{ note: 'a secret', size: 1_400_000, type: 'image/png', text: 'a secret photo' },
    });
  });

  test('offline, both pages write: all of it is on the server once the network is back', async () => {
    const setOffline =
      browser.setOffline ?? ((isOffline) => (isOffline ? server.cut() : server.listen()));
    await setOffline(true);
    await insert(leader, 'a');
    await insert(follower, 'b', 'c');
    await expect.poll(() => stateOf(leader)).toBe('offline');
    await expect
      .poll(() => follower.run(() => window.sync.status.error?.code))
      .toBe('remote_offline');
    for (const tab of [leader, follower])
      await expect.poll(() => figuresOf(tab)).toMatchObject({ pending: 3, rejected: 0 });
    expect(await stateOf(follower)).toBe('elsewhere');
    expect(await documents()).toEqual([]);
    await setOffline(false);
    await settle(follower);
    expect(await documents()).toEqual(['a', 'b', 'c']);
    expect(await server.changes(name)).toBe(3);
    expect(await stateOf(leader)).toBe('idle');
    for (const tab of [leader, follower])
      expect(await figuresOf(tab)).toMatchObject({ pending: 0, rejected: 0 });
  });
});
