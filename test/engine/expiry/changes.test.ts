import { describe, expect, test } from 'vitest';
import { openRig } from './expiry-rig.ts';

describe.each([true, false])('caching: %s', (caching) => {
  test('an expired document keeps no id: insert, insertMany, upsert and upsertMany take it', async () => {
    const { client, clock, entries, inSeconds } = openRig({ caching });
    const ids = ['insert', 'insertMany', 'upsert', 'upsertMany'];
    await entries.insertMany(ids.map((_id) => ({ _id, at: inSeconds(10), n: 0 })));
    await entries.insert({ _id: 'between' });
    clock.jump(10_000);
    await entries.insert({ _id: 'insert', n: 1 });
    await entries.insertMany([{ _id: 'insertMany', n: 1 }]);
    await entries.upsert({ _id: 'upsert', n: 1 });
    await entries.upsertMany([{ _id: 'upsertMany', n: 1 }]);
    // New documents, at the end, and not updated ones.
    expect(await entries.filter({})).toEqual([
      { _id: 'between', _updated: false, _archived: false },
      ...ids.map((_id) => ({ _id, _updated: false, _archived: false, n: 1 })),
    ]);
    await entries.save();
    await client.close();
  });

  test('nor a key of a unique index', async () => {
    const { client, clock, entries, inSeconds } = openRig({
      caching,
      indexes: [{ fields: 'code', unique: true }],
    });
    await entries.insertMany([
      { _id: 'a', at: inSeconds(10), code: 'x' },
      { _id: 'b', at: inSeconds(10), code: 'y' },
      { _id: 'c', at: inSeconds(10), code: 'z' },
      { _id: 'd', code: 'w' },
    ]);
    await expect(entries.insert({ _id: 'e', code: 'x' })).rejects.toMatchObject({
      code: 'unique_violation',
    });
    clock.jump(10_000);
    await entries.insert({ _id: 'e', code: 'x' });
    await entries.insertMany([{ _id: 'f', code: 'y' }]);
    await entries.patch('d', { code: 'z' });
    expect(await entries.count()).toBe(3);
    await client.close();
  });

  test('nor from a file that is merged', async () => {
    const options = { caching, indexes: [{ fields: 'code', unique: true }] };
    const source = openRig(options);
    await source.entries.insert({ _id: 'new', code: 'x' });
    const file = await new Response(await source.client.exportAll()).blob();
    await source.client.close();
    for (const door of ['importBackup', 'importAll'] as const) {
      const { client, clock, driver, entries, inSeconds } = openRig(options);
      await entries.insert({ _id: 'old', at: inSeconds(10), code: 'x' });
      await entries.insert({ _id: 'other', at: inSeconds(20), code: 'y' });
      clock.jump(10_000);
      const mode = { mode: 'merge' } as const;
      expect(
        await (door === 'importAll'
          ? client.importAll(file, mode)
          : entries.importBackup(file, mode)),
      ).toBe(1);
      const ids = async (from = entries) => (await from.filter({})).map(({ _id }) => _id);
      expect(await ids()).toEqual(['other', 'new']);
      await client.close();
      const again = openRig(options, driver, clock);
      expect(await ids(again.entries)).toEqual(['other', 'new']);
      await again.client.close();
    }
  });

  test('a unique index is built over what has not expired', async () => {
    const { client, clock, driver, entries, inSeconds } = openRig({ caching });
    await entries.insertMany([
      { _id: 'a', at: inSeconds(10), code: 'x' },
      { _id: 'b', code: 'x' },
    ]);
    await client.close();
    clock.jump(10_000);
    const indexes = [{ fields: 'code', unique: true }];
    const again = openRig({ caching, indexes }, driver, clock);
    expect(await again.entries.filter({ code: 'x' })).toMatchObject([{ _id: 'b' }]);
    await again.client.close();
  });

  test('only a Date or nothing is stored in the field, and a refusal changes nothing', async () => {
    const { client, entries, inSeconds } = openRig({ caching });
    await entries.insert({ _id: 'a', at: inSeconds(10) });
    const refused = { name: 'ValueError', code: 'expiry_not_a_date' };
    for (const at of ['2030-01-01', 5, true, {}, [inSeconds(1)], new Date(Number.NaN)]) {
      await expect(entries.insert({ _id: 'b', at })).rejects.toMatchObject({
        ...refused,
        place: 'document.at',
      });
      await expect(entries.insertMany([{ _id: 'c' }, { _id: 'b', at }])).rejects.toMatchObject({
        ...refused,
        place: 'documents[1].at',
      });
      await expect(entries.upsert({ _id: 'a', at })).rejects.toMatchObject(refused);
      await expect(entries.upsertMany([{ _id: 'b', at }])).rejects.toMatchObject(refused);
      await expect(entries.update('a', { _id: 'a', at })).rejects.toMatchObject(refused);
      await expect(entries.patch('a', { at })).rejects.toMatchObject(refused);
      await expect(entries.patchMany({}, { at })).rejects.toMatchObject(refused);
      await expect(entries.modify('a', (entry) => ({ ...entry, at }))).rejects.toMatchObject(
        refused,
      );
      await expect(
        client.transaction(async (tx) => {
          await tx(entries).insert({ _id: 'b', at });
        }),
      ).rejects.toMatchObject(refused);
      await expect(
        client.transaction(async (tx) => {
          await tx(entries).patch('a', { at });
        }),
      ).rejects.toMatchObject(refused);
    }
    await expect(
      entries.patch('a', { $unset: { at: true }, $set: { n: 1 } }),
    ).resolves.toMatchObject({ n: 1 });
    for (const at of [null, undefined]) await entries.update('a', { _id: 'a', at });
    expect(await entries.count()).toBe(1);
    await client.close();
  });

  test('data of before the option: dates expire, anything else stays', async () => {
    const { client, clock, driver, entries, inSeconds } = openRig({
      caching,
      expire_after: undefined,
    });
    await entries.insertMany([
      { _id: 'a', at: inSeconds(10) },
      { _id: 'b', at: '2001-01-01' },
      { _id: 'c', at: [inSeconds(10)] },
      { _id: 'd', at: new Date(Number.NaN) },
      { _id: 'e', at: { at: inSeconds(1) } },
    ]);
    await client.close();
    clock.jump(3_600_000);
    const again = openRig({ caching }, driver, clock);
    expect((await again.entries.filter({})).map(({ _id }) => _id)).toEqual(['b', 'c', 'd', 'e']);
    expect(await again.entries.count()).toBe(4);
    await again.client.close();
  });
});
