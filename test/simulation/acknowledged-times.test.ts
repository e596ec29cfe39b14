import { expect, test } from 'vitest';
import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

const open = ({ db }: Tab) =>
  new db.Collection<{ n: number; at?: Date }>({
    ...{ name: 'log', type: 'DOCUMENT_BASED', save_timeout: 1000, save_directly_after: 1000 },
    ...{ indicate_created_at: true, indicate_updated_at: true },
    ...{ indicate_archived_at: true, indicate_unarchived_timestamp: true },
  });

type Log = ReturnType<typeof open>;

const changes: ((log: Log) => Promise<unknown>)[] = [
  (log) => log.insert({ _id: 'x', n: 1 }),
  (log) => log.upsert({ _id: 'x', n: 2 }),
  (log) => log.update('x', { n: 3 }),
  (log) => log.patch('x', { n: 4 }),
  (log) => log.archive('x'),
  (log) => log.unarchive('x'),
  (log) => log.archive('x'),
  (log) => log.insertMany([{ n: 1 }, { n: 2 }]),
  (log) => log.patch('x', { $inc: { n: 1 }, $currentDate: { at: true } }),
  (log) => log.patchMany({ n: { $lt: 3 } }, { $inc: { n: 5 }, $currentDate: { at: true } }),
  (log) => log.modify('x', async ({ n }) => ({ n: n + 1 })),
  (log) => log.upsertMany([{ _id: 'x', n: 8 }, { n: 9 }, { _id: 'y', n: 10 }]),
  // In two parts.
  (log) => log.upsertMany(Array.from({ length: 100 }, (_, n) => ({ n, at: new Date(n) }))),
  (log) => log.patchMany(({ n }) => n > 90, { $currentDate: { at: true } }),
];

test('documents keep the times that were acknowledged, though another leader reapplied their changes', async () => {
  for (let count = 1; count <= changes.length; count++) {
    const world = new World(count);
    const browser = simulateBrowser(world);
    const leader = new Tab(0, browser);
    await world.hear(open(leader).count());
    const log = open(new Tab(1, browser));
    for (const change of changes.slice(0, count)) await world.hear(change(log));
    const told = await world.hear(log.filter({}, { archived: true }));
    leader.kill();
    expect(await world.hear(log.filter({}, { archived: true }))).toEqual(told);
  }
});
