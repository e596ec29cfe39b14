import { describe, expect, test } from 'vitest';
import { settled } from '../fake-clock.ts';
import { openRig } from './expiry-rig.ts';

describe.each([true, false])('caching: %s', (caching) => {
  test('no read finds a document from its time on, before any timer has fired', async () => {
    const { client, clock, entries, inSeconds } = openRig({ caching, indexes: ['n'] });
    await entries.insertMany([
      { _id: 'soon', at: inSeconds(10), n: 1 },
      { _id: 'later', at: inSeconds(20), n: 2 },
      { _id: 'never', n: 3 },
    ]);
    const ids = async (found: Promise<{ _id: string }[]>) => (await found).map(({ _id }) => _id);
    clock.jump(9_999);
    expect(await entries.count({})).toBe(3);
    clock.jump(1);
    expect(await entries.get('soon')).toBeUndefined();
    expect(await entries.getMany(['soon', 'later'])).toMatchObject([undefined, { _id: 'later' }]);
    expect(await entries.find({ _id: 'soon' })).toBeUndefined();
    expect(await entries.has({ n: 1 })).toBe(false);
    expect(await entries.count()).toBe(2);
    expect(await entries.count({ n: { $gt: 0 } })).toBe(2);
    expect(await entries.count({ n: { $lt: 3 } })).toBe(1);
    expect(await entries.count({ at: { $lt: inSeconds(100) } })).toBe(1);
    expect(await ids(entries.filter({}))).toEqual(['later', 'never']);
    expect(await ids(entries.filter({ n: { $gte: 1 } }, { sort: { n: -1 } }))).toEqual([
      'never',
      'later',
    ]);
    expect(await ids(entries.filter({}, { sort: { n: 1 }, limit: 1 }))).toEqual(['later']);
    expect(await ids(entries.filter((entry) => entry.n !== 3))).toEqual(['later']);
    expect((await entries.explain({ n: 1 })).returned).toBe(0);
    const streamed: string[] = [];
    for await (const { _id } of entries) streamed.push(_id);
    expect(streamed).toEqual(['later', 'never']);
    expect(await entries.update('soon', { _id: 'soon', n: 9 })).toBeUndefined();
    expect(await entries.patch('soon', { n: 9 })).toBeUndefined();
    expect(await entries.modify('soon', (entry) => entry)).toBeUndefined();
    expect(await entries.patchMany({ n: 1 }, { n: 9 })).toBe(0);
    expect(await entries.delete('soon')).toBe(false);
    expect(await entries.archive('soon')).toBe(false);
    expect(await entries.deleteMany({})).toBe(2);
    await client.close();
  });

  test('who iterates slowly gets nothing that expires meanwhile but what was read already', async () => {
    const { client, clock, entries, inSeconds } = openRig({ caching, indexes: ['n'] });
    const many = Array.from({ length: 3000 }, (_, n) => ({ _id: `e${n}`, at: inSeconds(10), n }));
    await entries.insertMany([...many, { _id: 'never', n: 5000 }]);
    for (const sort of [undefined, { n: 1 } as const]) {
      await entries.upsertMany(many.map((entry) => ({ ...entry, at: inSeconds(10) })));
      const seen: string[] = [];
      for await (const { _id } of entries.each({}, { sort })) {
        if (seen.push(_id) > 1) continue;
        await entries.patch('e2999', { at: null });
        await clock.advance(10_000);
      }
      expect(seen.slice(-2)).toEqual(['e2999', 'never']);
      expect(seen.length).toBeLessThan(1000);
    }
    await client.close();
  });

  test('a document in the past is stored, and never found', async () => {
    const { client, entries, inSeconds } = openRig({ caching });
    await entries.insert({ _id: 'old', at: inSeconds(-1) });
    await entries.insertMany([{ _id: 'older', at: inSeconds(-5) }, { _id: 'here' }]);
    expect(await entries.filter({})).toMatchObject([{ _id: 'here' }]);
    await client.close();
  });

  test('archived documents expire too', async () => {
    const { client, clock, entries, inSeconds } = openRig({ caching });
    await entries.insert({ _id: 'a', at: inSeconds(10) });
    await entries.archive('a');
    expect(await entries.count({}, { archived: 'only' })).toBe(1);
    clock.jump(10_000);
    expect(await entries.count({}, { archived: 'only' })).toBe(0);
    expect(await entries.filter({}, { archived: true })).toEqual([]);
    await client.close();
  });

  test('seconds count from the time in the field, and a new time counts anew', async () => {
    const { client, clock, entries, inSeconds } = openRig({
      caching,
      expire_after: { field: 'at', seconds: 60 },
    });
    await entries.insert({ _id: 'a', at: inSeconds(0) });
    await entries.insert({ _id: 'b', at: inSeconds(0) });
    clock.jump(59_999);
    await entries.patch('a', { at: inSeconds(0) });
    clock.jump(1);
    expect(await entries.filter({})).toMatchObject([{ _id: 'a' }]);
    clock.jump(59_999);
    expect(await entries.count()).toBe(0);
    await client.close();
  });

  test('a stamp can be the time', async () => {
    const { client, clock, entries } = openRig({
      caching,
      indicate_updated_at: true,
      indicate_created_at: true,
      expire_after: { field: '_created_at', seconds: 5 },
    });
    await entries.insertMany([{ _id: 'a' }, { _id: 'b' }]);
    clock.jump(2_000);
    await entries.update('a', { _id: 'a', n: 1 });
    await entries.insert({ _id: 'c' });
    clock.jump(3_000);
    expect(await entries.filter({})).toMatchObject([{ _id: 'c' }]);
    await client.close();
  });

  test('a clock that is set back brings nothing back, before and after the removal', async () => {
    const { client, clock, entries, inSeconds } = openRig({ caching });
    await entries.insertMany([{ _id: 'a', at: inSeconds(10) }, { _id: 'b' }]);
    clock.jump(10_000);
    expect(await entries.count()).toBe(1);
    clock.jump(-60_000);
    expect(await entries.count()).toBe(1);
    expect(await entries.get('a')).toBeUndefined();
    await clock.advance(0);
    expect(await entries.count({ at: { $exists: true } })).toBe(0);
    await client.close();
  });

  test('what is inserted after a clock was set right has its own time', async () => {
    const { client, clock, entries, inSeconds } = openRig({ caching, indexes: ['n'] });
    await entries.insertMany([{ _id: 'before', at: inSeconds(3600) }, { _id: 'never' }]);
    clock.jump(7_200_000);
    expect(await entries.count()).toBe(1);
    // Nothing is read between this and the insert.
    clock.jump(-7_200_000);
    const at = inSeconds(3600);
    await Promise.all([
      entries.insert({ _id: 'one', at }),
      entries.insertMany([
        { _id: 'two', at },
        { _id: 'three', at },
      ]),
      client.transaction((tx) => tx(entries).insert({ _id: 'four', at })),
      entries.patch('never', { at }),
    ]);
    const here = ['never', 'one', 'two', 'three', 'four'];
    const ids = async () => (await entries.filter({})).map(({ _id }) => _id);
    expect(await ids()).toEqual(here);
    await clock.advance(60_000);
    expect(await ids()).toEqual(here);
    expect(await entries.get('before')).toBeUndefined();
    await clock.advance(3_540_000);
    expect(await entries.count()).toBe(0);
    await client.close();
  });

  test('what a file brings after a clock was set right has its own time', async () => {
    const { client, clock, entries, inSeconds } = openRig({ caching });
    await entries.insert({ _id: 'a', at: inSeconds(3600) });
    const file = await new Response(await client.exportAll()).blob();
    clock.jump(7_200_000);
    expect(await entries.count()).toBe(0);
    clock.jump(-7_200_000);
    await client.importAll(file.stream());
    expect(await entries.filter({})).toMatchObject([{ _id: 'a' }]);
    await client.close();
  });

  test('synchronous reads agree', async () => {
    const { client, clock, entries, inSeconds } = openRig({ caching: true, indexes: ['n'] });
    await entries.insertMany([
      { _id: 'a', at: inSeconds(10), n: 1 },
      { _id: 'b', n: 1 },
    ]);
    await entries.ready;
    const { sync } = entries;
    // The second time a prepared plan answers.
    for (let round = 0; round < 3; round++) expect(sync.filter({ n: 1 })).toHaveLength(2);
    clock.jump(10_000);
    for (let round = 0; round < 3; round++) {
      expect(sync.filter({ n: 1 }, { sort: { n: 1 } })).toHaveLength(1);
      expect(sync.filter({ n: 1 })).toMatchObject([{ _id: 'b' }]);
      expect(sync.count({ n: 1 })).toBe(1);
      expect(sync.count()).toBe(1);
    }
    expect(sync.get('a')).toBeUndefined();
    expect(sync.getMany(['a', 'b'])[0]).toBeUndefined();
    await client.close();
  });
});

test('a live query that began beside what had expired shows what is new after the clock was set back', async () => {
  const { client, clock, entries, inSeconds } = openRig();
  await entries.insert({ _id: 'old', at: inSeconds(10), n: 1 });
  clock.jump(20_000);
  const ids: string[] = [];
  const counts: number[] = [];
  const groups: number[] = [];
  entries.live({}).subscribe(({ data = [] }) => void ids.push(data.map(({ _id }) => _id).join()));
  entries.liveCount({}).subscribe(({ data = -1 }) => void counts.push(data));
  entries
    .liveAggregate<{ sum: number }>([{ $group: { _id: null, sum: { $sum: '$n' } } }])
    .subscribe(({ data = [] }) => void groups.push(data[0]?.sum ?? 0));
  // No timer fires: nothing is removed meanwhile.
  while (ids.length + counts.length + groups.length < 3) await settled();
  clock.jump(-15_000);
  expect(await entries.count({})).toBe(0);
  await entries.insert({ _id: 'new', at: inSeconds(10), n: 2 });
  for (let turn = 0; turn < 20; turn++) await settled();
  expect([ids.at(-1), counts.at(-1), groups.at(-1)]).toEqual(['new', 1, 2]);
  await client.close();
});
