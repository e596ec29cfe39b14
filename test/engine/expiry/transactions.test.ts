import { expect, test } from 'vitest';
import { openRig } from './expiry-rig.ts';

test('a transaction sees the time at which it began, and conflicts with what has expired since', async () => {
  const { client, clock, entries, inSeconds } = openRig({ caching: true });
  await entries.insertMany([
    { _id: 'a', at: inSeconds(10), n: 1 },
    { _id: 'b', n: 1 },
  ]);
  const seen: unknown[] = [];
  await client.transaction(async (tx) => {
    const own = tx(entries);
    const found = await own.get('a');
    if (seen.length === 0) clock.jump(10_000);
    seen.push([found !== undefined, (await own.get('a')) !== undefined, await own.count()]);
    await own.patch('b', { n: 2 });
  });
  expect(seen).toEqual([
    [true, true, 2],
    [false, false, 1],
  ]);
  expect(await entries.get('b')).toMatchObject({ n: 2 });
  await client.close();
});

test('a transaction that has updated a document cannot bring it back once it has expired', async () => {
  const { client, clock, entries, inSeconds } = openRig({ caching: true });
  await entries.insert({ _id: 'a', at: inSeconds(10) });
  let tries = 0;
  const renewed = await client.transaction(async (tx) => {
    const result = await tx(entries).patch('a', { at: inSeconds(3600) });
    if (tries++ === 0) {
      clock.jump(10_000);
      expect(await entries.get('a')).toBeUndefined();
    }
    return result;
  });
  expect([tries, renewed]).toEqual([2, undefined]);
  expect(await entries.count()).toBe(0);
  await client.close();
});

test('a transaction takes the id and the unique key of what has expired, removed or not', async () => {
  for (const removed of [true, false]) {
    const { client, clock, entries, inSeconds } = openRig({
      caching: true,
      indexes: [{ fields: 'code', unique: true }],
    });
    await entries.insertMany([
      { _id: 'a', at: inSeconds(10), code: 'x' },
      { _id: 'b', at: inSeconds(10), code: 'y' },
    ]);
    clock.jump(10_000);
    if (removed) await clock.advance(15_000);
    await client.transaction(async (tx) => {
      const own = tx(entries);
      await own.insert({ _id: 'a', code: 'y' });
      await own.insert({ _id: 'c', code: 'x' });
      expect(await own.count()).toBe(2);
    });
    expect((await entries.filter({})).map(({ _id }) => _id)).toEqual(['a', 'c']);
    await client.close();
  }
});
