import { afterEach, expect, test } from 'vitest';
import { nextTurn } from '../../src/async/next-turn.ts';
import { CallSender } from '../../src/outbox/call-sender.ts';
import { type OutboxError, outbox } from '../../src/outbox/index.ts';
import {
  closeTestDatabases,
  FakeClock,
  type TestDatabase,
  testBrowser,
  testDatabase,
} from '../../src/testing/index.ts';
import { offline, openShop, Shop, soldOut, status } from './shop.ts';

afterEach(() => closeTestDatabases());

const open = (db: TestDatabase = testDatabase(), actions?: Parameters<typeof openShop>[3]) => {
  const [shop, clock] = [new Shop(), new FakeClock()];
  return { shop, clock, ...openShop(db, shop, clock, actions) };
};

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: OutboxError) => error.code,
  );

/** Opens a page again on what another has left. */
const reopened = async (db: TestDatabase) => {
  const { disk } = db;
  await db.close();
  return testDatabase({ storage: disk });
};

test('an action changes the database and calls the server', async () => {
  const { shop, order, box, stored, events } = open();
  const { id, sent } = await order('lamp');
  expect(await stored()).toEqual(['lamp']);
  await sent;
  expect(shop.keys).toEqual([id]);
  expect(shop.items).toEqual(['lamp']);
  expect(events).toEqual([['sent', id]]);
  expect(await box.pending.live().ready).toMatchObject({ data: [] });
  expect(box.status).toMatchObject({ state: 'idle', pending: 0, error: undefined });
});

test('an action whose local change fails stores nothing and calls nobody', async () => {
  const { shop, order, box, orders } = open();
  await orders.insert({ _id: 'lamp', item: 'old' } as never);
  expect(await codeOf(order('lamp'))).toBe('id_taken');
  expect(await box.pending.live().ready).toMatchObject({ data: [] });
  expect(shop.keys).toEqual([]);
});

test('calls that are made at once are sent in their order, one after the other', async () => {
  const { shop, order } = open();
  const items = Array.from({ length: 30 }, (_, n) => `item ${n}`);
  const calls = await Promise.all(items.map((item) => order(item)));
  await Promise.all(calls.map(({ sent }) => sent));
  expect(shop.items).toEqual(items);
  expect(new Set(shop.keys).size).toBe(30);
});

test('a call that fails is sent again with its key, and later calls wait for it', async () => {
  const { shop, clock, order, box } = open();
  shop.answers.push(
    offline,
    () => status(503),
    () => status(500),
  );
  const [first, second] = await Promise.all([order('a'), order('b')]);
  for (const ms of [1000, 2000, 4000]) {
    await expect.poll(() => box.status.retry_at?.getTime()).toBe(clock.now() + ms);
    expect(box.status).toMatchObject({ state: 'waiting', pending: 2 });
    await clock.advance(ms);
  }
  await Promise.all([first.sent, second.sent]);
  expect(shop.keys).toEqual([first.id, first.id, first.id, first.id, second.id]);
  expect(shop.items).toEqual(['a', 'b']);
});

test('pages see why a call waits', async () => {
  const { shop, order, box } = open();
  shop.answers.push(() => status(503, {}, 'maintenance'));
  await order('a');
  await expect.poll(() => box.status.state).toBe('waiting');
  const { data } = await box.pending.live().ready;
  expect(data).toMatchObject([
    {
      ...{ action: 'order', input: { item: 'a' }, state: 'waiting', attempts: 1 },
      error: { code: 'call_failed', status: 503, answer: 'maintenance' },
    },
  ]);
  expect(box.status.error).toMatchObject({ code: 'call_failed', status: 503 });
});

test('a call that a backup does not have was not sent, and its caller hears of it', async () => {
  const { db, shop, order, online, box } = open();
  const calls = new db.Collection<object>({ name: 'cairn_outbox', type: 'DOCUMENT_BASED' });
  shop.answers.push(offline);
  const first = await order('a');
  await expect.poll(() => box.status.state).toBe('waiting');
  const backup = await calls.createBackup();
  const second = await order('b');
  await calls.loadBackup(backup);
  expect(await codeOf(second.sent)).toBe('call_discarded');
  online();
  await first.sent;
  expect(shop.items).toEqual(['a']);
});

test('lanes do not wait for each other', async () => {
  const { shop, order } = open(undefined, { order: { lane: ({ item }) => item[0] as string } });
  shop.answers.push(offline);
  const [, , other] = await Promise.all([order('a1'), order('a2'), order('b1')]);
  await other?.sent;
  expect(shop.items).toEqual(['b1']);
});

test('Retry-After holds all lanes', async () => {
  const { shop, clock, order, box } = open(undefined, { order: { lane: ({ item }) => item } });
  shop.answers.push(() => status(429, { 'retry-after': '120' }));
  const { sent } = await order('a');
  await expect.poll(() => box.status.retry_at?.getTime()).toBe(clock.now() + 120_000);
  await order('b');
  await clock.advance(119_000);
  expect(shop.keys.length).toBe(1);
  await clock.advance(2000);
  await sent;
  expect(shop.items.toSorted()).toEqual(['a', 'b']);
});

test('when the network is back, calls are sent at once', async () => {
  const { shop, order, online, box } = open();
  shop.answers.push(offline);
  const { sent } = await order('a');
  await expect.poll(() => box.status.state).toBe('waiting');
  online();
  await sent;
});

test.each([
  ['a status', () => status(422, {}, 'sold out'), { status: 422, answer: 'sold out' }],
  ['an error', soldOut, { message: 'Sold out' }],
])('a call that the server refuses by %s is undone', async (_, answer, error) => {
  const { shop, order, box, stored, events } = open();
  shop.answers.push(answer);
  const { id, sent } = await order('a');
  await expect(sent).rejects.toMatchObject({ code: 'call_refused', ...error });
  expect(await stored()).toEqual([]);
  expect(events).toEqual([['refused', id]]);
  await (await order('b')).sent;
  expect(box.status).toMatchObject({ pending: 0, undo_failed: 0 });
});

test('a refused call that cannot be undone is kept and told, and undone by the next app', async () => {
  const broken = () => Promise.reject(new Error('no such order'));
  const first = open(undefined, { order: { refused: broken } });
  first.shop.answers.push(soldOut);
  const [one, two] = await Promise.all([first.order('a'), first.order('b')]);
  expect(await codeOf(one.sent)).toBe('call_refused');
  await two.sent; // the lane goes on
  expect(first.events).toEqual([
    ['undo_failed', one.id],
    ['sent', two.id],
  ]);
  expect(await first.stored()).toEqual(['a', 'b']);
  expect(first.box.status).toMatchObject({ pending: 0, undo_failed: 1 });
  await first.box.retry();
  await expect.poll(() => first.events.length).toBe(3);

  const second = open(await reopened(first.db as TestDatabase));
  expect(await second.stored()).toEqual(['a', 'b']);
  await expect.poll(() => second.stored()).toEqual(['b']);
  expect(second.events).toEqual([['refused', one.id]]);
  expect(second.shop.keys).toEqual([]);
  expect(second.box.status).toMatchObject({ undo_failed: 0 });
});

test('calls survive a reload', async () => {
  const first = open();
  first.shop.answers.push(offline);
  const { id, sent } = await first.order('a');
  await expect.poll(() => first.box.status.state).toBe('waiting');
  const db = await reopened(first.db as TestDatabase);
  expect(await codeOf(sent)).toBe('outbox_stopped');
  const second = open(db);
  await second.box.flush();
  expect(second.shop.keys).toEqual([id]);
  expect(await second.stored()).toEqual(['a']);
});

test('an action that the app no longer has is told, and holds its lane alone', async () => {
  const first = open(undefined, { order: {}, old: { lane: 'old' } });
  first.shop.answers.push(offline, offline);
  const { id } = await first.order('x', 'old');
  await first.order('a');
  const second = open(await reopened(first.db as TestDatabase));
  await expect.poll(() => second.stored()).toEqual(['x', 'a']);
  await expect.poll(() => second.shop.items).toEqual(['a']);
  await expect.poll(() => second.events[0]).toEqual(['unknown', id]);
  await expect.poll(() => second.box.status).toMatchObject({ state: 'waiting', pending: 1 });
  expect(await second.box.pending.discard(id)).toBe(true);
  expect(await second.box.pending.discard(id)).toBe(false);
  await expect.poll(() => second.box.status.state).toBe('idle');
});

test('a call that is discarded is undone', async () => {
  const { shop, order, box, stored } = open();
  shop.answers.push(offline);
  const { id, sent } = await order('a');
  await expect.poll(() => box.status.state).toBe('waiting');
  expect(await box.pending.discard(id)).toBe(true);
  expect(await codeOf(sent)).toBe('call_discarded');
  expect(await stored()).toEqual([]);
  await (await order('b')).sent;
  expect(shop.items).toEqual(['b']);
});

test('a send that never settles is aborted and tried again', async () => {
  const { shop, clock, order, box } = open();
  shop.answers.push(() => new Promise(() => undefined));
  const { sent } = await order('a');
  await expect.poll(() => shop.keys.length).toBe(1);
  await clock.advance(60_000);
  await expect.poll(() => box.status.error).toMatchObject({ code: 'call_timeout' });
  await clock.advance(1000);
  await sent;
});

test('followers queue as well, hear that it was sent, and send when the leader ends', async () => {
  const browser = testBrowser();
  const [shop, clock] = [new Shop(), new FakeClock()];
  const [leader, follower] = [1, 2].map(() => openShop(browser.openTab(), shop, clock));
  if (!leader || !follower) throw new Error();
  await leader.db.ready;
  await follower.db.ready;
  const first = await follower.order('a');
  await first.sent;
  expect(leader.events).toEqual([['sent', first.id]]);
  expect(follower.events).toEqual([]);
  expect(follower.box.status.state).toBe('elsewhere');

  shop.answers.push(soldOut);
  const refused = await follower.order('b');
  await expect(refused.sent).rejects.toMatchObject({ code: 'call_refused', message: 'Sold out' });
  expect(await follower.stored()).toEqual(['a']);

  shop.answers.push(offline);
  const last = await follower.order('c');
  await expect.poll(() => leader.box.status.state).toBe('waiting');
  expect(follower.box.status.pending).toBe(1);
  await leader.db.close();
  await last.sent;
  expect(shop.items).toEqual(['a', 'c']);
  expect(follower.events).toEqual([['sent', last.id]]);
});

test('a call that was not there for a moment is sent once it is there again', async () => {
  const [shop, clock] = [new Shop(), new FakeClock()];
  const call = { _id: 'a', action: 'order', lane: '', state: 'waiting', attempts: 0, asked: 0 };
  /** What the engine has: it was replaced, and the page that made the call was frozen. */
  const stored = new Map<string, object>();
  const calls = {
    save: async () => undefined,
    get: async (id: string) => stored.get(id),
    delete: async (id: string) => stored.delete(id),
  };
  const events: string[] = [];
  const sender = new CallSender({
    ...{ db: {}, calls, actions: { order: { send: shop.take } }, timeout: 60_000, clock },
    ...{ random: () => 1, changed: () => undefined },
    emit: (name: string) => events.push(name),
  } as never);
  sender.lead();
  sender.take([call as never]);
  await nextTurn();
  expect(shop.keys).toEqual([]);
  expect(sender.isSending).toBe(false);
  stored.set('a', call);
  await clock.advance(1000);
  await nextTurn();
  expect(shop.keys).toEqual(['a']);
  // The list still shows it.
  sender.take([call as never]);
  await clock.advance(1000);
  await nextTurn();
  expect([shop.keys, events]).toEqual([['a'], ['sent']]);
});

test('retry() of a follower reaches the leader', async () => {
  const browser = testBrowser();
  const [shop, clock] = [new Shop(), new FakeClock()];
  const [leader, follower] = [1, 2].map(() => openShop(browser.openTab(), shop, clock));
  if (!leader || !follower) throw new Error();
  await leader.db.ready;
  shop.answers.push(offline);
  const { sent } = await follower.order('a');
  await expect.poll(() => leader.box.status.state).toBe('waiting');
  await follower.box.retry();
  await sent;
});

test('flush() resolves when everything is sent, and rejects when an attempt fails', async () => {
  const { shop, order, box } = open();
  shop.answers.push(offline, offline);
  await order('a');
  await expect.poll(() => box.status.state).toBe('waiting');
  await expect(box.flush()).rejects.toMatchObject({ code: 'call_failed', place: 'order' });
  await box.flush();
  expect(shop.items).toEqual(['a']);
  await box.flush();
});

/** A database whose list of calls comes late while `isSlow`. */
function lateLists() {
  const db = testDatabase();
  const held: (() => void)[] = [];
  const late = {
    isSlow: false,
    /** The page gets what it has missed as one difference. */
    release() {
      late.isSlow = false;
      held.splice(0).at(-1)?.();
    },
  };
  let isFirst = true;
  function Collection(options: never) {
    const made = new db.Collection<object>(options) as any;
    const live = made.live.bind(made);
    made.live = (...asked: unknown[]) => {
      const query = live(...asked);
      if (!isFirst) return query;
      isFirst = false;
      const later = (call: () => void) => (late.isSlow ? held.push(call) : call());
      return { subscribe: (take: any) => query.subscribe((one: any) => later(() => take(one))) };
    };
    return made;
  }
  const get = (target: any, name: string) => {
    if (name === 'Collection') return Collection;
    return typeof target[name] === 'function' ? target[name].bind(target) : target[name];
  };
  return { late, ...open(new Proxy(db, { get }) as never) };
}

test('a call that a backup brings back before the list shows it gone is sent again', async () => {
  const { late, shop, order, box, db, online } = lateLists();
  const calls = new db.Collection<object>({ name: 'cairn_outbox', type: 'DOCUMENT_BASED' });
  shop.answers.push(offline);
  const { id, sent } = await order('a');
  await expect.poll(() => box.status.state).toBe('waiting');
  const backup = await calls.createBackup();
  late.isSlow = true;
  online();
  await sent;
  await calls.loadBackup(backup);
  late.release();
  await expect.poll(() => shop.keys).toEqual([id, id, id]);
  await box.flush();
});

test('flush() waits for a call that the list of the page does not show yet', async () => {
  const { late, shop, order, box, db } = lateLists();
  await (await order('a')).sent;
  late.isSlow = true;
  await order('b');
  let isFlushed = false;
  const flushing = box.flush().then(() => {
    isFlushed = true;
  });
  for (let round = 0; round < 10; round++) await db.save();
  expect([isFlushed, shop.items]).toEqual([false, ['a']]);
  late.release();
  await flushing;
  expect(shop.items).toEqual(['a', 'b']);
});

test('a service worker flushes on its own tag alone', async () => {
  const { shop, order, box } = open();
  shop.answers.push(offline);
  await order('a');
  await expect.poll(() => box.status.state).toBe('waiting');
  const works: Promise<unknown>[] = [];
  const waitUntil = (work: Promise<unknown>) => void works.push(work);
  box.onSync({ tag: 'other', waitUntil });
  expect(works).toEqual([]);
  box.onSync({ tag: 'outbox', waitUntil });
  await works[0];
  expect(shop.items).toEqual(['a']);
});

test('what send is given cannot change the stored call, nor local its input', async () => {
  const inputs: unknown[] = [];
  const { order } = open(undefined, {
    order: {
      local: (_, input) => Object.assign(input, { item: 'changed' }),
      send: async (input) => {
        inputs.push(structuredClone(input));
        Object.assign(input, { item: 'changed' });
        if (inputs.length === 1) return status(401);
        return undefined;
      },
    },
  });
  const { sent } = await order('a');
  await expect.poll(() => inputs.length).toBe(1);
  expect(inputs).toEqual([{ _id: 'a', item: 'a' }]);
  sent.catch(() => undefined);
});

test.for(['dropped', 'renamed'])('an outbox whose collection is %s has ended', async (how) => {
  const { shop, clock, db, order, box } = open();
  shop.answers.push(offline);
  const { id, sent } = await order('lamp');
  await expect.poll(() => box.status.error?.message).toBe('Failed to fetch');
  const options = { name: 'cairn_outbox', type: 'DOCUMENT_BASED' } as const;
  if (how === 'renamed') await db.renameCollection('cairn_outbox', 'calls');
  else await new db.Collection({ ...options, activate_drop_method: true }).Drop();
  // The new one sends what it finds: nobody waits for it here for ever.
  expect(await codeOf(sent)).toBe('outbox_stopped');
  expect(box.status.state).toBe('stopped');
  expect(await codeOf(order('chair'))).toBe('outbox_stopped');
  await clock.advance(100_000);
  expect(shop.keys).toEqual([id]);
});

test('outbox() checks what it is given', async () => {
  const db = testDatabase();
  const bad = (run: () => unknown) => {
    try {
      run();
    } catch (error) {
      return (error as OutboxError).code;
    }
    return undefined;
  };
  const actions = { order: { send: async (_: string) => undefined } };
  expect(bad(() => outbox(undefined as never, actions))).toBe('option_invalid');
  expect(bad(() => outbox(db, { order: {} } as never))).toBe('option_invalid');
  expect(bad(() => outbox(db, actions, { timeout: -1 }))).toBe('option_invalid');
  expect(bad(() => outbox(db, actions, { tag: 'x' } as never))).toBe('option_unknown');
  const box = outbox(db, actions);
  expect(bad(() => outbox(db, actions))).toBe('option_conflict');
  await (await box.actions.order('x')).sent;
  box.stop();
  expect(await codeOf(box.actions.order('x'))).toBe('outbox_stopped');
  const lane = outbox(db, { order: { ...actions.order, lane: () => 1 as never } });
  expect(await codeOf(lane.actions.order('x'))).toBe('option_invalid');
});
