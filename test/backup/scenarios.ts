import { settled } from '../engine/fake-clock.ts';
import type { Scenario, Things, World } from './cut-world.ts';
import { tampered } from './stored.ts';

const DAY = 86_400_000;
const pad = (kilobytes: number) => 'p'.repeat(kilobytes * 1024);

/** Three backups of different contents, and changes after the last. */
async function threeBackups({ things, clock }: World): Promise<void> {
  await things.insertMany([
    { _id: 'a', n: 1 },
    { _id: 'b', n: 1, pad: pad(70) },
    { _id: 'c', n: 1 },
  ]);
  await things.createBackup({ label: 'one' });
  await clock.advance(DAY);
  await things.update('a', { n: 2 });
  await things.delete('c');
  await things.createBackup({ label: 'two' });
  await clock.advance(DAY);
  await things.insert({ _id: 'd', n: 3, pad: pad(70) });
  await things.archive('a');
  await things.createBackup({ label: 'three' });
  await clock.advance(DAY);
  await things.update('b', { n: 4, pad: pad(66) });
  await things.insert({ _id: 'e', n: 4 });
  await things.save();
}

const nameAt = async (things: Things, label: string): Promise<string> => {
  const list = await things.listBackups();
  return list.find((each) => each.label === label)!.name;
};

const load = (label: string) => (world: World) => [
  nameAt(world.things, label).then((name) => world.things.loadBackup(name)),
];

/** Removes the segment that only the labelled backup uses, with its bodies. */
const lost = (stored: Parameters<NonNullable<Scenario['tamper']>>[0]) => {
  const named = new Set(stored.snapshots.flatMap(([, { segments = [] }]) => segments as number[]));
  const gone = stored.segments.find(([key]) => !named.has(key[1] as number))?.[0][1];
  return tampered(stored, 'segments', (value, key) => (key[1] === gone ? undefined : value));
};

/** A backup as a file, by label; made before the first cut. */
const files = new Map<string, Blob>();

async function threeBackupsAndFiles(world: World): Promise<void> {
  await threeBackups(world);
  await new world.client.Collection<any>({ name: 'others', type: 'KEY_VALUE_BASED' }).set('k', 1);
  const { things } = world;
  const stream = await things.exportBackup(await nameAt(things, 'one'));
  files.set('one', await new Response(stream).blob());
  files.set('all', await new Response(await world.client.exportAll()).blob());
  await things.update('e', { n: 40 });
  await things.save();
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'createBackup',
    before: threeBackups,
    act: ({ things }) => [things.createBackup({ label: 'new' })],
  },
  {
    name: 'createBackup of pending changes',
    before: threeBackups,
    act: ({ things }) => [
      things.insert({ _id: 'f', n: 5, pad: pad(70) }),
      things.delete('a'),
      things.createBackup({ label: 'new' }),
    ],
  },
  {
    name: 'the first save and backup of a collection',
    before: async () => undefined,
    act: ({ things }) => [things.insert({ _id: 'a', n: 1 }), things.createBackup()],
  },
  {
    name: 'a daily backup at opening',
    before: threeBackups,
    later: DAY,
    options: { auto_create_backup: true },
    act: ({ things }) => [things.ready],
  },
  {
    name: 'expiry at opening',
    before: threeBackups,
    later: 20 * DAY,
    options: { backup_retention_time: 3 },
    act: ({ things }) => [things.ready],
  },
  {
    name: 'expiry by the hour',
    before: threeBackups,
    options: { backup_retention_time: 3.01 },
    act: ({ things, clock }) => [things.ready.then(() => clock.advance(DAY / 2))],
  },
  {
    name: 'compaction with backups',
    before: async (world) => {
      const { things } = world;
      for (let n = 0; n < 4; n++) {
        await things.insert({ _id: `c${n}`, n, pad: pad(23) });
        await things.save();
      }
      await threeBackups(world);
      for (let n = 0; n < 3; n++) await things.update(`c${n}`, { n: n + 10, pad: pad(5) });
    },
    act: ({ things }) => [
      things.insert({ _id: 'f', n: 5, pad: pad(60) }),
      things.save(),
      settled().then(() => things.insert({ _id: 'g', n: 5, pad: pad(60) })),
      settled().then(() => things.save()),
    ],
    between: (before) => [`${before} f=5+61440`],
  },
  {
    name: 'loadBackup',
    before: threeBackups,
    act: load('one'),
  },
  {
    name: 'loadBackup of the newest, with pending changes',
    before: threeBackups,
    act: (world) => [world.things.update('e', { n: 9 }), ...load('three')(world)],
    between: (before) => [before.replace('e=4', 'e=9')],
  },
  {
    name: 'loadBackup with an index declared later',
    before: threeBackups,
    options: { indexes: ['n'] },
    act: load('one'),
  },
  {
    name: 'loadBackup twice',
    before: threeBackups,
    act: (world) => [...load('one')(world), ...load('two')(world)],
    between: (_, known) => [...known.values()],
  },
  {
    name: 'deleteBackup',
    before: threeBackups,
    act: ({ things }) => [nameAt(things, 'two').then((name) => things.deleteBackup(name))],
  },
  {
    name: 'Drop() that keeps a backup',
    before: threeBackups,
    act: ({ things }) => [things.insert({ _id: 'f', n: 5 }), things.Drop({ backup: true })],
    between: (before) => [`${before} f=5`],
  },
  {
    name: 'opening with a new index',
    before: threeBackups,
    options: { indexes: ['n', { fields: 'pad' }] },
    act: ({ things }) => [things.ready],
  },
  {
    name: 'loadBackup into a damaged collection',
    before: threeBackups,
    tamper: lost,
    act: load('two'),
    // The rest of the damaged data becomes a backup.
    between: () => ['a*=2 b=1+71680 d=3+71680'],
  },
  {
    name: 'loadBackup into a collection without its manifest',
    before: threeBackups,
    tamper: (stored) => tampered(stored, 'collections', () => undefined),
    act: load('three'),
    // Without a manifest all segments are found that compaction left.
    between: () => ['a*=2 b=4+67584 d=3+71680 e=4'],
  },
  {
    name: 'importBackup',
    before: threeBackupsAndFiles,
    act: ({ things }) => [things.importBackup(files.get('one') as Blob)],
  },
  {
    name: 'importBackup that merges, with pending changes',
    before: threeBackupsAndFiles,
    act: ({ things }) => [
      things.update('d', { n: 9 }),
      things.importBackup(files.get('one') as Blob, { mode: 'merge' }),
    ],
    between: (before) => [before.replace(/d=\S+/, 'd=9')],
  },
  {
    name: 'importBackup with an index declared later',
    before: threeBackupsAndFiles,
    options: { indexes: ['n'] },
    act: ({ things }) => [things.importBackup(files.get('one') as Blob)],
  },
  {
    name: 'importBackup into a damaged collection',
    before: threeBackupsAndFiles,
    tamper: lost,
    act: ({ things }) => [things.importBackup(files.get('one') as Blob)],
    // The rest of the damaged data becomes a backup.
    between: () => ['a*=2 b=1+71680 d=3+71680 e=40'],
  },
  {
    name: 'importAll',
    before: threeBackupsAndFiles,
    act: ({ client }) => [client.importAll(files.get('all') as Blob)],
  },
];
