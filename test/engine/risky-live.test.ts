import { afterEach, expect, test } from 'vitest';
import type { LiveSpec } from '../../src/protocol/live-protocol.ts';
import { settled } from './fake-clock.ts';
import { LiveSession } from './live-session.ts';

const real = RegExp.prototype.test;
afterEach(() => {
  RegExp.prototype.test = real;
});

/** The texts that the pattern is tested on from now on. */
function watchPattern(): string[] {
  const tried: string[] = [];
  RegExp.prototype.test = function (text: string) {
    if (this.source === '^a') tried.push(text);
    return real.call(this, text);
  };
  return tried;
}

const found: LiveSpec = { kind: 'list', criteria: { text: /^a/ }, archived: false };
const mayHang = true;
const changed = [1, { changed: true }];

for (const caching of [true, false]) {
  const open = () => LiveSession.open({ caching });

  test(`a pattern runs only within a mayHang request, caching ${caching}`, async () => {
    const db = await open();
    for (let n = 0; n < 4; n++) await db.put(`a${n}`, { text: `a${n}` });
    await db.ask({ op: 'save' });
    const tried = watchPattern();
    await db.ask({ op: 'live', live: 1, spec: { ...found, limit: 2 }, throttle: 0, mayHang });
    expect(db.news.length).toBe(1);
    expect(tried.splice(0).length).toBeGreaterThan(0);
    await db.ask({ op: 'liveNext', live: 1 });

    await db.put('a0', { text: 'b0' });
    await db.ask({ op: 'delete', id: 'a1' }, { op: 'save' });
    await db.put('b', { text: 'ab' });
    await settled();
    expect(tried).toEqual([]);
    expect(db.news.slice(1)).toEqual([changed]);
    await db.ask({ op: 'liveNext', live: 1, mayHang });
    expect(db.news[2]?.[1]).toMatchObject({ keys: ['a2', 'a3'] });
    expect(tried.splice(0).toSorted()).toEqual(['ab', 'b0']);

    await db.put('a2', { text: 'a22' });
    await settled();
    expect(db.news.length).toBe(3);
    await db.ask({ op: 'liveNext', live: 1 });
    await settled();
    expect(tried).toEqual([]);
    expect(db.news.slice(3)).toEqual([changed]);
    await db.ask({ op: 'liveNext', live: 1, mayHang });
    expect(db.news[4]?.[1]).toMatchObject({ keys: ['a2'] });
  });
}

test('a mayHang request without a new result is answered, and waits for the next change', async () => {
  const db = await LiveSession.open();
  const spec = { ...found, kind: 'count' } as const;
  await db.ask({ op: 'live', live: 1, spec, throttle: 50, mayHang });
  await db.ask({ op: 'liveNext', live: 1 });
  await db.put('a', { text: 'b' });
  await db.clock.advance(100);
  expect(db.news.splice(0)).toEqual([[1, { count: 0 }], changed]);
  await db.ask({ op: 'liveNext', live: 1, mayHang });
  expect(db.news).toEqual([]);
  await db.put('a', { text: 'a' });
  expect(db.news).toEqual([changed]);
  await db.ask({ op: 'liveNext', live: 1, mayHang });
  expect(db.news.slice(1)).toEqual([[1, { count: 1 }]]);
});

test('a mayHang request is answered also if its live query has ended or failed', async () => {
  const db = await LiveSession.open();
  const live = (live: number, spec = found) =>
    db.ask({ op: 'live', live, spec, throttle: 0, mayHang });
  const next = (live: number) => db.ask({ op: 'liveNext', live, mayHang });
  await next(7);
  await db.ask({ op: 'liveEnd', live: 7 });
  await live(1);
  await db.ask({ op: 'liveNext', live: 1 });
  await db.put('a', { text: 'a' });
  await db.ask({ op: 'liveEnd', live: 1 });
  await next(1);
  await live(2, { ...found, criteria: { text: /^(?:a|b)*$/ } });
  await db.ask({ op: 'liveNext', live: 2 });
  // V8 gives up on it.
  await db.put('a', { text: 'a'.repeat(10_000_000) });
  await next(2);
  expect(db.news.at(-1)?.[1]).toMatchObject({ error: { code: 'subject_too_long' } });
  await next(2);
  await live(3, { ...found, criteria: { text: /^(?:a|b)*$/ } });
  expect(db.news.at(-1)?.[1]).toMatchObject({ error: { code: 'subject_too_long' } });
  expect(db.collection.lives.size).toBe(0);
  expect(db.collection.records.guard.pinned).toBe(false);
});
