import { expose } from 'comlink';
import { expect, test } from 'vitest';
import { tabRoute } from '../../src/page/connection/tab-route.ts';
import { Announcements } from '../../src/platform/announcements.ts';
import type { Switchboard } from '../../src/platform/platform.ts';
import { READY } from '../../src/protocol/ready.ts';
import { uncloneableBlob } from '../transport/uncloneable-blob.ts';
import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

test('explain says that the engine is in another tab', async () => {
  const world = new World(1);
  const browser = simulateBrowser(world);
  const engines: string[] = [];
  for (const tab of [new Tab(0, browser), new Tab(1, browser)]) {
    const notes = new tab.db.Collection({ name: 'notes', type: 'DOCUMENT_BASED' });
    const explained = notes.explain({});
    await world.runUntil(world.now + 1000);
    engines.push((await explained).engine);
  }
  expect(engines).toEqual(['thread', 'tab']);
});

const open = ({ db }: Tab) =>
  new db.Collection({ name: 'log', type: 'KEY_VALUE_BASED', caching: true });

test('what is written without waiting, where another tab has come to lead, is refused and not lost', async () => {
  const world = new World(1);
  const browser = simulateBrowser(world);
  const first = new Tab(0, browser);
  const log = open(first);
  const ready = log.ready;
  await world.runUntil(1000);
  await ready;
  log.sync.set('a', 1);
  first.rest(2000);
  await world.runUntil(1500);
  const second = new Tab(1, browser);
  const other = open(second);
  other.ready.catch(() => undefined);
  await world.runUntil(10_000);
  expect([first.db.status.leader, second.db.status.leader]).toEqual([false, true]);
  expect(() => log.sync.set('a', 2)).toThrow(
    expect.objectContaining({ code: 'sync_unavailable', place: 'log' }),
  );
  const value = log.get('a');
  await world.runUntil(20_000);
  expect(await value).toBe(1);
});

test('a call of a follower that no message can carry rejects, and keeps no other from being answered', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    await Promise.all([new Tab(0, browser).db.ready, world.runUntil(100)]);
    const { db } = new Tab(1, browser);
    const notes = new db.Collection({ name: 'notes', type: 'DOCUMENT_BASED' });
    await Promise.all([notes.ready, world.runUntil(200 + seed * 10)]);
    const told: unknown[] = [];
    const note = (answer: unknown) => told.push(answer);
    notes.insert({ blob: uncloneableBlob() }).catch((error) => note(error.cause.name));
    await world.runUntil(500);
    notes.insert({}).then(() => note('inserted'), note);
    await world.runUntil(5000);
    notes.count().then(note, note);
    db.save().then(() => note('saved'), note);
    await world.runUntil(10_000);
    expect([seed, ...told]).toEqual([seed, 'DataCloneError', 'inserted', 1, 'saved']);
  }
});

test('tabs that hear of a newer version fail, and their status says why', async () => {
  const world = new World(1);
  const browser = simulateBrowser(world);
  const tabs = [new Tab(0, browser), new Tab(1, browser)];
  const told: unknown[] = [];
  for (const { db } of tabs) {
    await Promise.all([db.ready, world.runUntil(world.now + 1000)]);
    db.on('status', ({ state, last_error }) => {
      if (state === 'failed') told.push((last_error as { code?: string } | undefined)?.code);
    });
  }
  const newer = browser.broadcast.of(new Tab(2, browser))('cairn:db');
  newer.postMessage({ type: 'lead', leader: 'newer', epoch: 1e6, protocol: 1000 });
  await world.runUntil(world.now + 2000);
  expect(told).toEqual(['format_newer', 'format_newer']);
  for (const { db } of tabs) {
    expect(db.status).toMatchObject({ state: 'failed', last_error: { code: 'format_newer' } });
    await expect(db.ready).rejects.toMatchObject({ code: 'format_newer', place: 'db' });
  }
});

const WORDS: readonly unknown[] = [
  ...[undefined, null, 0, '', 'lead', [], {}, new Date(0)],
  ...['who', 'lead', 'begin', 'join', 'constructor'].map((type) => ({ type })),
  { type: 'lead', leader: null, epoch: Number.NaN, protocol: 'two' },
  { type: 'join', leader: null, client: null, channel: null },
];

test('what other code says on the channel of a database moves nobody', async () => {
  const world = new World(1);
  const browser = simulateBrowser(world);
  const tabs = [new Tab(0, browser), new Tab(1, browser)];
  for (const { db } of tabs) await Promise.all([db.ready, world.runUntil(world.now + 1000)]);
  const foreign = browser.broadcast.of(new Tab(2, browser))('cairn:db');
  for (const word of WORDS) {
    foreign.postMessage(word);
    await world.runUntil(world.now + 2000);
    const states = tabs.map(({ db }) => [db.status.state, db.status.leader]);
    expect([word, ...states]).toEqual([word, ['open', true], ['open', false]]);
  }
  const log = tabs.map(({ db }) => new db.Collection({ name: 'log', type: 'KEY_VALUE_BASED' }));
  const told = log.map((one) => one.increase('n', 1));
  await world.runUntil(world.now + 1000);
  expect((await Promise.all(told)).sort()).toEqual([1, 2]);
});

test('a port is not waited for of a leader that cannot bring one', async () => {
  const world = new World(1);
  const browser = simulateBrowser(world);
  const [older, newer] = [new Tab(0, browser), new Tab(1, browser)] as const;
  new Announcements('db', browser.broadcast.of(older), (said) => {
    if (said.type !== 'join') return;
    const channel = browser.broadcast.of(older)(said.channel);
    expose({}, channel);
    channel.postMessage(READY);
  });
  const waiting = new Set<string>();
  const switchboard: Switchboard = {
    open: (opened) => {
      waiting.add('address');
      world.after(5, newer, () => opened('address'));
      return () => waiting.delete('address');
    },
    bring: () => undefined,
  };
  const broadcast = browser.broadcast.of(newer);
  const route = tabRoute(
    { leader: 'older', epoch: 1, protocol: 1 },
    {
      ...{ client: 'newer', channel: 'pair', broadcast, switchboard, prove: undefined },
      announcements: new Announcements('db', broadcast, () => undefined),
      clock: {
        now: () => world.now,
        elapsed: () => world.now,
        after: (ms, call) => world.after(ms, newer, call),
      },
    },
    {
      event: () => undefined,
      hasUnsaved: () => false,
      lost: () => undefined,
    },
  );
  await Promise.all([route, world.runUntil(252)]);
  expect(waiting.size).toBe(1);
  await world.runUntil(1000);
  expect(waiting.size).toBe(0);
});
