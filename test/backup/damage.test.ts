import { describe, expect, test } from 'vitest';
import type { DatabaseClient } from '../../src/index.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { allOf } from '../contract/outcomes.ts';
import { openClient } from '../engine/engine-client.ts';
import { contentsOf, type Things } from './cut-world.ts';
import { driverWith, numberAt, readStored, type Stored, tampered } from './stored.ts';

const documents = {
  name: 'things',
  type: 'DOCUMENT_BASED',
  activate_drop_method: true,
  backup_retention_time: -1,
} as const;

const pad = 'p'.repeat(70_000);

interface Made {
  readonly stored: Stored;
  /** Names of the backups: of a and b, and of b alone, with their contents. */
  readonly both: string;
  readonly one: string;
}

/**
 * The first segment holds a and b, the second an update of a with its bodies apart, the third c,
 * the fourth d. The backups name the first, and the first and second.
 */
async function make(): Promise<Made> {
  const driver = memoryDriver();
  const { client } = openClient(driver);
  const things = new client.Collection<any>(documents);
  await things.insertMany([
    { _id: 'a', n: 1 },
    { _id: 'b', n: 1 },
  ]);
  const one = await things.createBackup();
  await things.update('a', { n: 2, pad });
  const both = await things.createBackup();
  await things.insert({ _id: 'c', n: 3 });
  await things.save();
  // The last segment: no later one names it.
  await things.insert({ _id: 'd', n: 4 });
  await client.close();
  return { stored: await readStored(driver), both, one };
}

const HELD = { one: 'a=1 b=1', both: 'a=2+70000 b=1' };

type Damage = (stored: Stored) => Stored;

/** Changes the value of one segment in a store, counted from 1. */
const damageIn =
  (store: 'segments' | 'bodies') =>
  (place: number, change: (value: any) => unknown): Damage =>
  (stored) => {
    const number = numberAt(stored, place);
    return tampered(stored, store, (value, key) => (key[1] === number ? change(value) : value));
  };

const segment = damageIn('segments');
const bodies = damageIn('bodies');

const open = async (stored: Stored, caching: boolean, options: object = {}) => {
  const driver = await driverWith(stored);
  const { client } = openClient(driver);
  const construct = (at: DatabaseClient = client, more: object = {}): Things =>
    new at.Collection<any>({ ...documents, caching, ...options, ...more });
  return { driver, client, things: construct(), construct };
};

const codeOf = async (promise: Promise<unknown>): Promise<string> => {
  try {
    return `none, but ${JSON.stringify(await promise)}`;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

/** Every call except those for repair. */
const calls: Record<string, (things: Things) => Promise<unknown>> = {
  ready: (things) => things.ready,
  insert: (things) => things.insert({}),
  insertMany: (things) => things.insertMany([{}, {}]),
  upsert: (things) => things.upsert({ _id: 'a' }),
  update: (things) => things.update('a', {}),
  patch: (things) => things.patch('a', { n: 5 }),
  archive: (things) => things.archive('a'),
  unarchive: (things) => things.unarchive('a'),
  delete: (things) => things.delete('a'),
  deleteMany: (things) => things.deleteMany({}),
  get: (things) => things.get('a'),
  find: (things) => things.find({}),
  filter: (things) => things.filter({ n: 1 }),
  'filter by function': (things) => things.filter(() => true),
  has: (things) => things.has({}),
  count: (things) => things.count(),
  explain: (things) => things.explain({}),
  each: (things) => allOf(things.each({})),
  save: (things) => things.save(),
  createBackup: (things) => things.createBackup(),
  live: (things) => {
    const live = things.live({});
    live.subscribe(() => undefined);
    return live.ready;
  },
};

/** Damage that prevents opening, and the intact backups. */
const unopenable: {
  name: string;
  damage: Damage;
  whole: ('one' | 'both')[];
  /** The segment named in the error, if any. */
  place?: number;
  says: string;
}[] = [
  {
    name: 'a missing segment',
    damage: segment(3, () => undefined),
    whole: ['both', 'one'],
    place: 3,
    says: 'is missing',
  },
  {
    name: 'a missing segment of a backup',
    damage: segment(2, () => undefined),
    whole: ['one'],
    place: 2,
    says: 'is missing',
  },
  {
    name: 'a missing segment that both backups share',
    damage: segment(1, () => undefined),
    whole: [],
    place: 1,
    says: 'is missing',
  },
  {
    name: 'a missing manifest',
    damage: (stored) => tampered(stored, 'collections', () => undefined),
    whole: ['both', 'one'],
    says: 'The manifest of collection "things" is missing',
  },
  {
    name: 'columns of different lengths',
    damage: segment(3, (value) => ({ ...value, ranks: new Float64Array(0) })),
    whole: ['both', 'one'],
    place: 3,
    says: 'is damaged in storage',
  },
  {
    name: 'a missing last segment',
    damage: segment(4, () => undefined),
    whole: ['both', 'one'],
    place: 4,
    says: 'is missing',
  },
  {
    name: 'an invalid segment',
    damage: segment(2, ({ number }) => ({ number })),
    whole: ['one'],
    place: 2,
    says: 'of collection "things"',
  },
];

describe.each([true, false])('damage that prevents opening, caching %s', (caching) => {
  test.each(unopenable)(
    'rejects every call except repair, for $name',
    async ({ damage, whole, place, says }) => {
      const made = await make();
      const { things, client, construct, driver } = await open(damage(made.stored), caching);
      const names = whole.map((which) => made[which]);
      const error = await things.ready.catch((reason: Error) => reason);
      expect(error).toMatchObject({ code: 'data_damaged', place: 'things' });
      const { message } = error as Error;
      if (place) expect(message).toContain(`Segment ${numberAt(made.stored, place)} `);
      expect(message).toContain(says);
      for (const name of [made.one, made.both]) {
        expect([name, message.includes(name)]).toEqual([name, names.includes(name)]);
      }
      for (const [name, call] of Object.entries(calls)) {
        expect([name, await codeOf(call(things))]).toEqual([name, 'data_damaged']);
      }
      const verification = await things.verify();
      expect(verification.whole).toBe(false);
      expect(verification.problems.length).toBeGreaterThan(0);
      expect(verification.backups.map(({ name, whole: is }) => [name, is])).toEqual([
        [made.both, whole.includes('both')],
        [made.one, whole.includes('one')],
      ]);
      expect(await things.listBackups()).toMatchObject([{ name: made.both }, { name: made.one }]);

      const second = construct();
      expect(await codeOf(second.count())).toBe('data_damaged');
      for (const which of ['both', 'one'] as const) {
        if (whole.includes(which)) continue;
        expect(await codeOf(things.loadBackup(made[which]))).toBe('backup_damaged');
        expect(await codeOf(things.count())).toBe('data_damaged');
      }
      const [newest] = whole;
      if (!newest) return;
      expect(await second.loadBackup(made[newest])).toBe(true);
      expect(await contentsOf(things)).toBe(HELD[newest]);
      expect(await contentsOf(second)).toBe(HELD[newest]);
      await things.insert({ _id: 'later', n: 9 });
      await second.save();
      expect(await second.verify()).toMatchObject({ whole: true });
      await client.close();
      const again = construct(openClient(driver).client);
      expect(await contentsOf(again)).toBe(`${HELD[newest]} later=9`);
      expect((await again.listBackups()).map(({ name }) => name)).toContain(made[newest]);
    },
  );

  test.each(unopenable)('deleteBackup works for $name', async ({ damage }) => {
    const made = await make();
    const { things, construct, driver } = await open(damage(made.stored), caching);
    expect(await things.deleteBackup(made.one)).toBe(true);
    expect(await codeOf(things.deleteBackup(made.one))).toBe('backup_unknown');
    expect(await things.listBackups()).toMatchObject([{ name: made.both }]);
    const again = construct(openClient(driver).client);
    expect(await codeOf(again.count())).toBe('data_damaged');
    expect(await again.listBackups()).toMatchObject([{ name: made.both }]);
  });

  test.each(unopenable)('Drop() works for $name', async ({ damage }) => {
    const { stored } = await make();
    const { things, construct, driver, client } = await open(damage(stored), caching);
    const dropping = things.Drop();
    const again = construct();
    const inserting = again.insert({ _id: 'new', n: 1 });
    expect(await dropping).toBe(true);
    await inserting;
    await client.close();
    const last = construct(openClient(driver).client);
    expect(await contentsOf(last)).toBe('new=1');
    expect(await last.verify()).toMatchObject({ whole: true, backups: [] });
  });

  test('a backup kept by Drop() has the readable documents', async () => {
    const { stored } = await make();
    const { things, construct, driver, client } = await open(
      segment(2, () => undefined)(stored),
      caching,
    );
    expect(await things.Drop({ backup: true })).toBe(true);
    const again = construct();
    expect(await again.count()).toBe(0);
    const [remains, ...others] = await again.listBackups();
    expect(others).toEqual([]);
    expect(remains).toMatchObject({ documents: 4, label: 'what was left of damaged data' });
    await again.loadBackup(remains!.name);
    await client.close();
    const last = construct(openClient(driver).client);
    expect(await contentsOf(last)).toBe('a=1 b=1 c=3 d=4');
    expect(await last.verify()).toMatchObject({ whole: true });
  });

  test('loadBackup makes a backup of the readable documents', async () => {
    const made = await make();
    const { things } = await open(segment(2, () => undefined)(made.stored), caching);
    await things.loadBackup(made.one);
    const [remains] = await things.listBackups();
    expect(remains).toMatchObject({ documents: 4, label: 'what was left of damaged data' });
    await things.loadBackup(remains!.name);
    expect(await contentsOf(things)).toBe('a=1 b=1 c=3 d=4');
  });

  test('a failed restore changes nothing and can be retried', async () => {
    const made = await make();
    const damaged = segment(3, (value) => ({ ...value, ranks: new Float64Array(0) }))(made.stored);
    const { things, driver } = await open(damaged, caching);
    const storage = await driver.open('test', { damaged: () => undefined });
    expect(await storage.keys('segments', ['things'])).toHaveLength(4);
    await codeOf(things.loadBackup('nobody'));
    expect(await storage.keys('segments', ['things'])).toHaveLength(4);
    await things.loadBackup(made.both);
    expect(await contentsOf(things)).toBe(HELD.both);
  });
});

/** Damage that only a read detects. */
const hidden: { name: string; damage: Damage; whole: ('one' | 'both')[] }[] = [
  {
    name: 'missing bodies',
    damage: bodies(2, () => undefined),
    whole: ['one'],
  },
  {
    name: 'too few bodies',
    damage: bodies(2, (value) => ({ ...value, bodies: [] })),
    whole: ['one'],
  },
  {
    name: 'unreadable JSON',
    damage: bodies(2, (value) => ({ ...value, bodies: ['{"n":2,'] })),
    whole: ['one'],
  },
];

describe.each([true, false])('damage detected later, caching %s', (caching) => {
  test.each(hidden)('rejects reads of damaged documents, for $name', async ({ damage, whole }) => {
    const made = await make();
    const { things, client, construct, driver } = await open(damage(made.stored), caching);
    expect(await things.count()).toBe(4);
    expect(await things.get('b')).toMatchObject({ n: 1 });
    expect(await codeOf(things.get('a'))).toBe('data_damaged');
    expect(await codeOf(things.filter({ n: 2 }))).toBe('data_damaged');
    const verification = await things.verify();
    const problem = { code: 'segment_damaged', segment: numberAt(made.stored, 2) };
    expect(verification).toMatchObject({ whole: false, problems: [problem] });
    expect(verification.backups.map(({ name, whole: is }) => [name, is])).toEqual([
      [made.both, whole.includes('both')],
      [made.one, whole.includes('one')],
    ]);
    const second = construct();
    await second.loadBackup(made.one);
    expect(await contentsOf(things)).toBe(HELD.one);
    expect(await contentsOf(second)).toBe(HELD.one);
    await client.close();
    const again = construct(openClient(driver).client);
    expect(await contentsOf(again)).toBe(HELD.one);
    expect(await again.verify()).toMatchObject({ whole: true });
  });

  test('a backup with a missing segment is named in the error, and the collection does not change', async () => {
    const made = await make();
    const { driver, client, things, construct } = await open(made.stored, caching);
    await things.loadBackup(made.one);
    const [undo] = await things.listBackups();
    await client.close();
    const stored = segment(3, () => undefined)(await readStored(driver));
    const { things: again, client: second, driver: other } = await open(stored, caching);
    expect(await contentsOf(again)).toBe(HELD.one);
    const verification = await again.verify();
    expect(verification).toMatchObject({ whole: true });
    const lost = { code: 'segment_missing', segment: numberAt(made.stored, 3) };
    expect(verification.backups).toMatchObject([
      { name: undo!.name, whole: false, problems: [lost] },
      { name: made.both, whole: true },
      { name: made.one, whole: true },
    ]);
    expect(await codeOf(again.loadBackup(undo!.name))).toBe('backup_damaged');
    expect(await contentsOf(again)).toBe(HELD.one);
    expect(await again.listBackups()).toHaveLength(3);
    await again.deleteBackup(undo!.name);
    await second.close();
    expect(await contentsOf(construct(openClient(other).client))).toBe(HELD.one);
  });
});
