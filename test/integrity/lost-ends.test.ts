import { describe, expect, test } from 'vitest';
import type { StorageDriver } from '../../src/storage/drivers/driver.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { seal } from '../../src/storage/integrity/seal.ts';
import { driverWith, readStored, type Stored, tampered } from '../backup/stored.ts';
import { openClient } from '../engine/engine-client.ts';
import { settled } from '../engine/fake-clock.ts';

interface Thing {
  _id: string;
  pad?: string;
}

const options = { name: 'things', type: 'DOCUMENT_BASED', activate_drop_method: true } as const;

function visit(driver: StorageDriver) {
  const { client } = openClient(driver);
  const said: { code: string; message: string }[] = [];
  client.on('error', ({ error }) => said.push(error as never));
  const things = () => new client.Collection<Thing>(options);
  const other = () => new client.Collection<Thing>({ ...options, name: 'other' });
  return { client, things, other, said };
}

type Visit = ReturnType<typeof visit>;
type Things = ReturnType<Visit['things']>;

async function saveEach(things: Things, ...ids: string[]): Promise<void> {
  for (const _id of ids) {
    await things.insert({ _id, pad: 'x'.repeat(30_000) });
    await things.save();
  }
}

/** What comes before the newest save. */
const histories: Record<string, (first: Visit) => Promise<unknown>> = {
  nothing: async () => undefined,
  'a save without documents': ({ things }) => things().save(),
  saves: ({ things }) => saveEach(things(), 'a', 'b'),
  'a compaction': ({ things }) => saveEach(things(), 'a', 'b', 'c', 'd'),
  'a restored backup': async ({ things }) => {
    const all = things();
    await saveEach(all, 'a');
    const backup = await all.createBackup();
    await saveEach(all, 'b');
    await all.loadBackup(backup);
  },
  'an import': async ({ things, other }) => {
    const source = other();
    await source.insert({ _id: 'a' });
    await things().importBackup(await source.exportBackup(await source.createBackup()));
  },
  'another name': async ({ client, other }) => {
    await saveEach(other(), 'a', 'b');
    await client.renameCollection('other', 'things');
  },
  'a drop that left a backup': async ({ things }) => {
    const all = things();
    await saveEach(all, 'a');
    await all.Drop({ backup: true });
  },
};

/** Without the newest segment and the note of it. */
function withoutEnd(stored: Stored): Stored {
  const newest = Math.max(...stored.segments.map(([[, number]]) => number as number));
  const cut = tampered(stored, 'segments', (value, [, number]) =>
    number === newest ? undefined : value,
  );
  return tampered(cut, 'bodies', (value, [name, part]) =>
    name === 'things' && part === 'last' ? undefined : value,
  );
}

const ends = Object.keys(histories).flatMap((history) =>
  [false, true].map((isLater) => ({ history, isLater })),
);

describe.each(ends)('behind $history, in another session: $isLater', ({ history, isLater }) => {
  async function stored(): Promise<Stored> {
    const driver = memoryDriver();
    const first = visit(driver);
    await histories[history]?.(first);
    if (isLater) await first.client.close();
    const next = isLater ? visit(driver) : first;
    const things = next.things();
    await things.insert({ _id: 'newest' });
    await things.save();
    for (let turn = 0; turn < 60; turn++) await settled();
    await next.client.close();
    expect([...first.said, ...next.said]).toEqual([]);
    return readStored(driver);
  }

  test('a collection that is whole is opened without a word', async () => {
    const { client, things, said } = visit(await driverWith(await stored()));
    const opened = things();
    expect(await opened.get('newest')).toBeDefined();
    expect(await opened.verify()).toMatchObject({ whole: true });
    expect(said).toEqual([]);
    await client.close();
  });

  test('the loss of the newest segment, with its note, is told once', async () => {
    const driver = await driverWith(withoutEnd(await stored()));
    const { client, things, said } = visit(driver);
    const opened = things();
    const left = await opened.filter({});
    expect(left.map(({ _id }) => _id)).not.toContain('newest');
    expect(said).toMatchObject([{ code: 'data_damaged' }]);
    expect(said[0]?.message).toContain('"things" has lost its note of the newest segment');
    await opened.insert({ _id: 'more' });
    await opened.save();
    expect(await opened.verify()).toMatchObject({ whole: false });
    await client.close();
    const next = visit(driver);
    const again = next.things();
    expect(await again.count({})).toBe(left.length + 1);
    expect(await again.verify()).toMatchObject({ whole: true });
    expect(next.said).toEqual([]);
    await next.client.close();
  });
});

test('a manifest that promises no note, as of an earlier version, needs none', async () => {
  const driver = memoryDriver();
  const first = visit(driver);
  await saveEach(first.things(), 'a', 'b');
  await first.client.close();
  const { collections, ...others } = withoutEnd(await readStored(driver));
  const earlier = collections.map(([key, { noted, checksum, ...manifest }]) => {
    expect(noted).toBe(true);
    return [key, seal(key, manifest)] as const;
  });
  const { things, said, client } = visit(await driverWith({ ...others, collections: earlier }));
  expect(await things().count({})).toBe(1);
  expect(said).toEqual([]);
  await client.close();
});
