import { describe, expect, test } from 'vitest';
import type { EventMap } from '../../../src/index.ts';
import { settled } from '../fake-clock.ts';
import { openRig, until } from './expiry-rig.ts';

const DAY = 86_400_000;

describe.each([true, false])('caching: %s', (caching) => {
  test('what has expired is removed at its time, saved, and told to live queries and listeners', async () => {
    const { client, clock, driver, entries, inSeconds } = openRig({ caching });
    await entries.insertMany([
      { _id: 'a', at: inSeconds(10), n: 1 },
      { _id: 'b', at: inSeconds(12), n: 1 },
      { _id: 'c', n: 1 },
    ]);
    await entries.save();
    const changes: unknown[] = [];
    entries.on('change', ({ changes: made }: EventMap['change']) => changes.push(...made));
    const list: string[][] = [];
    const counts: number[] = [];
    const item: (string | undefined)[] = [];
    entries
      .live({ n: 1 })
      .subscribe(({ data }) => void list.push((data ?? []).map(({ _id }) => _id)));
    entries.liveCount({}).subscribe(({ data }) => void counts.push(data ?? -1));
    entries.liveDocument('a').subscribe(({ data }) => void item.push(data?._id));
    while (list.at(-1)?.length !== 3) await settled();
    await clock.advance(9_999);
    await settled();
    expect(list.at(-1)).toEqual(['a', 'b', 'c']);
    await clock.advance(1);
    await until(clock, () => list.at(-1)?.join() === 'b,c');
    await until(clock, () => counts.at(-1) === 2 && item.at(-1) === undefined);
    await clock.advance(60_000);
    await until(clock, () => list.at(-1)?.join() === 'c' && client.status.unsaved === 0);
    expect(changes).toEqual([
      { id: 'a', kind: 'delete' },
      { id: 'b', kind: 'delete' },
    ]);
    expect(client.status.unsaved).toBe(0);
    await client.close();
    const again = openRig({ caching, expire_after: undefined }, driver, clock);
    expect(await again.entries.count()).toBe(1);
    await again.client.close();
  });

  test('a damaged document keeps no other from being removed', async () => {
    const first = openRig({ caching });
    const pad = 'p'.repeat(40_000);
    await first.entries.insertMany([
      { _id: 'a', code: pad },
      { _id: 'b', code: pad },
      { _id: 'c', code: pad, at: first.inSeconds(10) },
    ]);
    await first.client.close();
    const { driver, clock } = first;
    const storage = await driver.open('test', { damaged: () => undefined });
    const [key = []] = await storage.keys('bodies', ['entries']);
    const [stored] = (await storage.getMany('bodies', [key])) as { bodies: string[] }[];
    const value = { ...stored, bodies: stored?.bodies.with(0, 'damaged') };
    await storage.write([{ type: 'put', store: 'bodies', key, value }], 'relaxed');
    const { client, entries } = openRig({ caching }, driver, clock);
    const deleted: string[] = [];
    entries.on('change', ({ changes }: EventMap['change']) =>
      deleted.push(...changes.map(({ id }) => id)),
    );
    await entries.count();
    await clock.advance(10_000);
    await until(clock, () => deleted.length > 0);
    expect(deleted).toEqual(['c']);
    await expect(entries.get('a')).rejects.toMatchObject({ code: 'data_damaged' });
    await client.close();
  });

  test('a clock that jumps ahead is noticed soon, and one that jumps back waits', async () => {
    const { client, clock, entries, inSeconds } = openRig({ caching });
    await entries.insertMany([
      { _id: 'a', at: new Date(clock.now() + 60 * DAY) },
      { _id: 'b', at: inSeconds(1) },
    ]);
    const counts: number[] = [];
    entries.liveCount({}).subscribe(({ data }) => void counts.push(data ?? -1));
    while (counts.at(-1) !== 2) await settled();
    clock.jump(-DAY);
    await clock.advance(60_000);
    expect(counts.at(-1)).toBe(2);
    clock.jump(DAY);
    await clock.advance(15_000);
    await until(clock, () => counts.at(-1) === 1);
    clock.jump(60 * DAY);
    await clock.advance(15_000);
    await until(clock, () => counts.at(-1) === 0);
    await client.close();
  });

  test('a timer looks no more than four times a minute, and not at all where nothing expires', async () => {
    const { client, clock, entries } = openRig({ caching, cache_retention_time: -1 });
    await entries.insert({ _id: 'a' });
    await entries.save();
    await clock.advance(DAY / 24);
    const idle = clock.waiting;
    await entries.insert({ _id: 'b', at: new Date(clock.now() + 60 * DAY) });
    await entries.save();
    await until(clock, () => clock.waiting > idle);
    expect(clock.waiting).toBe(idle + 1);
    await client.close();
  });

  test('after a crash before the removal is saved, nothing is back', async () => {
    const { client, clock, driver, entries, inSeconds } = openRig({ caching, save_timeout: 3600 });
    await entries.insertMany([
      { _id: 'a', at: inSeconds(10) },
      { _id: 'b', at: inSeconds(3600) },
    ]);
    await client.close();
    clock.jump(10_000);
    const again = openRig({ caching }, driver, clock);
    expect(await again.entries.count()).toBe(1);
    expect(await again.entries.get('a')).toBeUndefined();
    // A restart forgets the time: by this clock it has not expired, unless its removal was saved.
    await again.client.close();
  });

  test('a backup that is restored shows nothing that has expired since', async () => {
    const { client, clock, entries, inSeconds } = openRig({ caching });
    await entries.insertMany([{ _id: 'a', at: inSeconds(10) }, { _id: 'b' }]);
    const backup = await entries.createBackup();
    await clock.advance(20_000);
    await entries.loadBackup(backup);
    expect(await entries.filter({})).toMatchObject([{ _id: 'b' }]);
    await client.close();
  });
});

test('an export has no document that has expired', async () => {
  const { client, clock, entries, inSeconds } = openRig();
  await entries.insertMany([{ _id: 'a', at: inSeconds(10) }, { _id: 'b' }]);
  clock.jump(10_000);
  const file = await new Response(await client.exportAll()).blob();
  await client.close();
  const other = openRig({ expire_after: undefined });
  await other.client.importAll(file.stream());
  expect((await other.entries.filter({})).map(({ _id }) => _id)).toEqual(['b']);
  await other.client.close();
});

describe.each(['replace', 'merge'] as const)('a file with what has expired since, %s', (mode) => {
  const merge = mode === 'merge';
  const codes = { indexes: [{ fields: 'code', unique: true }] } as const;

  test('leaves its keys to others', async () => {
    const source = openRig(codes);
    await source.entries.insertMany([
      { _id: 'old', at: source.inSeconds(10), code: 'x' },
      { _id: 'other', at: source.inSeconds(10), code: 'y' },
      { _id: 'stays', code: 'z' },
    ]);
    const file = await new Response(await source.client.exportAll()).blob();
    await source.client.close();
    const { client, clock, entries, driver } = openRig(codes);
    clock.jump(10_000);
    await entries.insertMany([
      { _id: 'new', code: 'x' },
      { _id: 'next', code: 'y' },
    ]);
    await entries.importBackup(file.stream(), { mode });
    const held = merge ? ['new', 'next', 'stays'] : ['stays'];
    expect((await entries.filter({})).map(({ _id }) => _id).sort()).toEqual(held);
    await clock.advance(0);
    await settled();
    await client.close();
    const again = openRig(codes, driver, clock);
    expect((await again.entries.filter({})).map(({ _id }) => _id).sort()).toEqual(held);
    for (const code of ['x', 'y', 'z'])
      expect(await again.entries.filter({ code })).toHaveLength(merge || code === 'z' ? 1 : 0);
    await expect(again.entries.insert({ code: 'z' })).rejects.toMatchObject({
      code: 'unique_violation',
    });
    await again.client.close();
  });

  test('is refused for two that have not', async () => {
    const source = openRig();
    await source.entries.insertMany([
      { _id: 'old', at: source.inSeconds(10), code: 'x' },
      { _id: 'one', code: 'x' },
      { _id: 'two', code: 'x' },
    ]);
    const file = await new Response(await source.client.exportAll()).blob();
    await source.client.close();
    const { client, clock, entries } = openRig(codes);
    clock.jump(10_000);
    await expect(entries.importBackup(file.stream(), { mode })).rejects.toMatchObject({
      code: 'unique_violation',
    });
    await client.close();
  });
});

test('twenty thousand that expire at once are hidden at once, and removed behind reads and changes', async () => {
  const { client, clock, entries, inSeconds } = openRig({ caching: true, indexes: ['n'] });
  const documents = Array.from({ length: 20_000 }, (_, n) => ({
    _id: `${n}`,
    at: inSeconds(10),
    n: n % 10,
  }));
  await entries.insertMany([...documents, { _id: 'stays', n: 5 }]);
  const counts: number[] = [];
  entries.liveCount({}).subscribe(({ data }) => void counts.push(data ?? -1));
  while (counts.length < 1) await settled();
  await entries.save();
  const sizes: number[] = [];
  entries.on('change', ({ changes }: EventMap['change']) => sizes.push(changes.length));
  const removed = () => sizes.reduce((sum, size) => sum + size, 0);
  clock.jump(10_000);
  await clock.advance(0);
  let between = 0;
  for (let round = 0; removed() < 20_000; round++) {
    if (removed() > 0) between++;
    expect(await entries.count()).toBe(1);
    expect(await entries.filter({ n: 5 })).toMatchObject([{ _id: 'stays' }]);
    expect(await entries.get(`${19_999 - round}`)).toBeUndefined();
    await clock.advance(15_000);
  }
  expect(between).toBeGreaterThan(10);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(256);
  await until(clock, () => counts.at(-1) === 1);
  // Never a part of them.
  expect(new Set(counts)).toEqual(new Set([20_001, 1]));
  await client.close();
});

test('two handles with different times: the first counts, with one warning', async () => {
  const { client, clock, entries, inSeconds } = openRig();
  await entries.insert({ _id: 'a', at: inSeconds(10) });
  const told: string[] = [];
  const { warn } = console;
  console.warn = (message: string) => void told.push(message);
  try {
    for (let n = 0; n < 2; n++)
      await new client.Collection({
        name: 'entries',
        type: 'DOCUMENT_BASED',
        expire_after: { field: 'at', seconds: 60 },
      }).ready;
    await new client.Collection({ name: 'entries', type: 'DOCUMENT_BASED' }).ready;
  } finally {
    console.warn = warn;
  }
  expect(told).toHaveLength(2);
  expect(told[0]).toContain('expire_after');
  clock.jump(10_000);
  expect(await entries.count()).toBe(0);
  await client.close();
});
