import { expect, test } from 'vitest';
import type { ListPart, LiveSpec, LiveUpdate } from '../../src/protocol/live-protocol.ts';
import { settled } from './fake-clock.ts';
import { LiveSession } from './live-session.ts';

const all: LiveSpec = { kind: 'list', archived: false };
const partOf = (news: readonly [number, LiveUpdate] | undefined) => news?.[1] as ListPart;

for (const caching of [true, false]) {
  const open = () => LiveSession.open({ caching });

  test(`the next result is computed only after the reader acknowledges the last, caching ${caching}`, async () => {
    const db = await open();
    await db.live(1, all);
    await settled();
    expect(db.news.length).toBe(1);
    for (let n = 0; n < 50; n++) await db.put(`d${n % 5}`, { n });
    await db.ask({ op: 'save' });
    expect(db.news.length).toBe(1);
    await db.ask({ op: 'liveNext', live: 1 });
    await settled();
    expect(db.news.length).toBe(2);
    expect(partOf(db.news[1]).keys).toEqual(['d0', 'd1', 'd2', 'd3', 'd4']);
    expect(partOf(db.news[1]).bodies).toEqual(
      [45, 46, 47, 48, 49].map((n) => JSON.stringify({ n })),
    );
    await db.ask({ op: 'liveNext', live: 1 });
    await settled();
    expect(db.news.length).toBe(2);
  });

  test(`a change notifies only the live queries whose result it changes, caching ${caching}`, async () => {
    const db = await open();
    for (let n = 0; n < 100; n++) {
      await db.live(n, { kind: 'list', criteria: { n }, archived: false });
      await db.ask({ op: 'liveNext', live: n });
    }
    expect(db.news.length).toBe(100);
    await db.put('a', { n: 42 });
    expect(db.news.slice(100).map(([live]) => live)).toEqual([42]);
    await db.ask({ op: 'liveNext', live: 42 });
    await db.put('a', { n: 43 });
    expect(db.news.slice(101).map(([live]) => live)).toEqual([42, 43]);
  });

  test(`a document deleted and inserted again in one batch counts as new, caching ${caching}`, async () => {
    const db = await open();
    for (const id of ['a', 'b']) await db.put(id, {});
    await db.live(1, all);
    await settled();
    await db.ask({ op: 'liveNext', live: 1 });
    const body = '{}';
    await db.ask({ op: 'delete', id: 'a' }, { op: 'insert', id: 'a', body });
    expect(db.news[1]?.[1]).toMatchObject({ removed: [0], indexes: [1], keys: ['a'] });
  });
}

test('changes that cancel out before the next result are not reported', async () => {
  const db = await LiveSession.open();
  await db.live(1, { kind: 'count', archived: false });
  await db.put('a', {});
  await db.ask({ op: 'delete', id: 'a' });
  await db.ask({ op: 'liveNext', live: 1 });
  expect(db.news).toEqual([[1, { count: 0 }]]);
});

test('a large result comes in chunks, each after the last is acknowledged', async () => {
  const db = await LiveSession.open();
  const bodies = Array.from({ length: 10_000 }, (_, n) =>
    JSON.stringify({ n, pad: 'x'.repeat(250) }),
  );
  await db.ask({ op: 'insertPart', call: 1, from: 0, last: true, bodies });
  await db.live(1, { kind: 'list', archived: false, sort: { n: -1 } });
  const parts: ListPart[] = [];
  while (parts.at(-1)?.more !== false) {
    expect(db.news.length).toBe(parts.length + 1);
    parts.push(partOf(db.news.at(-1)));
    // A worker sends all but the records.
    const sent = { ...parts.at(-1), records: undefined };
    expect(JSON.stringify(sent).length).toBeLessThan(1_700_000);
    await db.put(`new ${parts.length}`, { n: -parts.length });
    await db.ask({ op: 'liveNext', live: 1 });
    await settled();
  }
  expect(parts.length).toBeGreaterThan(2);
  expect(parts.flatMap(({ indexes: at }) => at)).toEqual(
    Array.from({ length: 10_000 }, (_, n) => n),
  );
  expect(parts.flatMap((part) => part.bodies)).toEqual(bodies.toReversed());
  const rest = partOf(db.news.at(-1));
  expect(rest.keys).toEqual(parts.map((_, n) => `new ${n + 1}`));
  expect(rest.indexes).toEqual(parts.map((_, n) => 10_000 + n));
});

test('throttle sets the least time between two results', async () => {
  const db = await LiveSession.open();
  const clock = db.clock;
  await db.live(1, { kind: 'count', archived: false }, 100);
  await db.ask({ op: 'liveNext', live: 1 });
  await settled();
  await db.put('a', {});
  await clock.advance(99);
  expect(db.news.length).toBe(1);
  await db.put('b', {});
  await clock.advance(1);
  expect(db.news.slice(1)).toEqual([[1, { count: 2 }]]);
  await db.ask({ op: 'liveNext', live: 1 });
  await clock.advance(1000);
  await db.put('c', {});
  expect(db.news.slice(2)).toEqual([[1, { count: 3 }]]);
});

test('ended live queries leave nothing behind in any state', async () => {
  const db = await LiveSession.open();
  for (let n = 0; n < 3000; n++) await db.put(`d${n}`, { n });
  const { lives, records } = db.collection;
  for (let live = 0; live < 300; live++) {
    await db.live(
      live,
      live % 3 ? { ...all, sort: { n: 1 } } : { kind: 'count', archived: true },
      50,
    );
    if (live % 2) await db.ask({ op: 'liveNext', live });
    if (live % 5 === 0) await db.put('d1', { n: live });
  }
  expect(lives.size).toBe(300);
  for (let live = 0; live < 150; live++) await db.ask({ op: 'liveEnd', live });
  expect(lives.size).toBe(150);
  await db.ask({ op: 'save' });
  db.session.leave();
  await settled();
  expect(lives.size).toBe(0);
  expect(records.guard.pinned).toBe(false);
  // The timer of cache retention.
  expect(db.clock.waiting).toBe(1);
  const reported = db.news.length;
  await db.put('x', {}).catch(() => undefined);
  expect(db.news.length).toBe(reported);
});

test('a live query that ends while its result is read leaves nothing behind', async () => {
  const db = await LiveSession.open({ caching: false });
  const bodies = Array.from({ length: 5000 }, (_, n) =>
    JSON.stringify({ n, pad: 'x'.repeat(250) }),
  );
  await db.ask({ op: 'insertPart', call: 1, from: 0, last: true, bodies });
  await db.ask({ op: 'save' });
  for (let live = 0; live < 20; live++) {
    void db.live(live, all);
    for (let tick = 0; tick < live; tick++) await undefined;
    await db.ask({ op: 'liveEnd', live });
  }
  await settled();
  await settled();
  expect(db.collection.lives.size).toBe(0);
  expect(db.collection.records.guard.pinned).toBe(false);
});

test('two sessions read independently; a drop ends the live queries of the open one', async () => {
  const one = await LiveSession.open();
  const two = new LiveSession(one.engine, one.collection, one.clock);
  await two.ask({ op: 'open', settings: one.collection.settings });
  await one.live(1, all);
  await two.live(1, { kind: 'item', key: 'a' });
  await one.ask({ op: 'liveNext', live: 1 });
  await two.ask({ op: 'liveNext', live: 1 });
  await one.put('a', { n: 1 });
  expect([one.news.length, two.news.length]).toEqual([2, 2]);
  one.session.leave();
  await two.ask({ op: 'liveNext', live: 1 }, { op: 'drop' });
  expect(one.news.length).toBe(2);
  expect(two.news.at(-1)?.[1]).toMatchObject({ error: { code: 'collection_dropped' } });
  expect(two.collection.lives.size).toBe(0);
});
