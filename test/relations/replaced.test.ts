import { afterEach, expect, test, vi } from 'vitest';
import { OpenSnapshots } from '../../src/engine/records/open-snapshots.ts';
import type { DocumentCollection, PipelineStage } from '../../src/index.ts';
import { testDatabase } from '../../src/testing/index.ts';

type Fields = Record<string, unknown>;
type Collection = DocumentCollection<Fields>;

afterEach(() => vi.restoreAllMocks());

/** Collections whose bodies have to be read: what happens meanwhile comes in between. */
async function prepared() {
  const db = testDatabase();
  const people: Collection = new db.Collection<Fields>({
    ...{ name: 'people', type: 'DOCUMENT_BASED', caching: false },
  });
  const jobs: Collection = new db.Collection<Fields>({
    ...{ name: 'jobs', type: 'DOCUMENT_BASED', caching: false },
    relations: { owner: { one: () => people, from: 'to' } },
  }) as never;
  const text = 'x'.repeat(2000);
  const all = Array.from({ length: 1500 }, (_, n) => ({ _id: `${n}`, to: `${n}`, v: 1, text }));
  await people.insertMany(all);
  await jobs.insertMany(all);
  const early = await people.createBackup();
  await people.patchMany({}, { v: 2 });
  await db.save();
  return { db, people, jobs, backups: [early, await people.createBackup()] };
}

const LOOKUP: PipelineStage[] = [
  { $lookup: { from: 'people', localField: 'to', foreignField: '_id', as: 'people' } },
  { $unwind: '$people' },
  { $group: { _id: '$people.v', n: { $sum: 1 } } },
];
const include = { include: { owner: true } } as never;
const some = { owner: { $some: { v: { $gte: 1 } } } } as never;

async function shown(jobs: Collection): Promise<unknown> {
  for await (const found of jobs.live({}, include)) return found;
  return undefined;
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((go) => setImmediate(go));
}

test('reads show one instant while a backup replaces what they look into', async () => {
  const { people, jobs, backups } = await prepared();
  for (let delay = 0; delay < 16; delay++) {
    const reads = Promise.all([
      jobs.filter({}, include) as Promise<unknown[]>,
      jobs.aggregate(LOOKUP),
      jobs.count(some),
    ]);
    await turns(delay);
    await people.loadBackup(backups[delay % 2] as string);
    const [found, groups, count] = await reads;
    const values = found.map((one) => (one as { owner: { v: number } }).owner.v);
    expect([values.length, new Set(values).size]).toEqual([1500, 1]);
    expect(groups).toMatchObject([{ n: 1500 }]);
    expect(count).toBe(1500);
  }
});

test('live results go on when a backup replaces what they look into', async () => {
  const { people, jobs, backups } = await prepared();
  const list = jobs.live({}, { include: { owner: { select: ['v'] } }, select: ['v'] } as never);
  const groups = jobs.liveAggregate(LOOKUP);
  const stops = [list, groups].map((live) => live.subscribe(() => undefined));
  for (let delay = 0; delay < 8; delay++) {
    const patched = jobs.patchMany({}, { v: delay });
    await turns(delay);
    await people.loadBackup(backups[delay % 2] as string);
    await patched;
  }
  for await (const [group] of groups) if (group?._id === 2) break;
  for await (const found of list)
    if (found.every((one) => one.v === 7 && (one as never as { owner: Fields }).owner.v === 2))
      break;
  for (const stop of stops) stop();
});

test('a long $lookup begins anew when more has changed than is kept for it', async () => {
  const { db, jobs } = await prepared();
  const counters = new db.Collection<{ n: number }>({
    name: 'counters',
    type: 'DOCUMENT_BASED',
    caching: true,
  });
  await counters.insertMany(Array.from({ length: 100_100 }, () => ({ n: 0 })));
  await counters.ready;
  const { take } = OpenSnapshots.prototype;
  let isChanged = false;
  const taken = vi.spyOn(OpenSnapshots.prototype, 'take').mockImplementation(function (
    this: OpenSnapshots,
  ) {
    const snapshot = take.call(this);
    // Once, behind the beginning of the read.
    if (!isChanged) {
      isChanged = true;
      counters.sync.patchMany({}, { $inc: { n: 1 } });
      expect(this.isOpen(snapshot)).toBe(false);
    }
    return snapshot;
  });
  expect(await jobs.aggregate(LOOKUP)).toEqual([{ _id: 2, n: 1500 }]);
  expect(taken).toHaveBeenCalledTimes(2);
});

test('a $lookup that never sees one instant says so', async () => {
  const { jobs } = await prepared();
  vi.spyOn(OpenSnapshots.prototype, 'isOpen').mockReturnValue(false);
  const refused = { code: 'transaction_expired', message: expect.stringMatching(/^Each of 5/) };
  await expect(jobs.aggregate(LOOKUP)).rejects.toMatchObject(refused);
  await expect(jobs.filter({}, include)).rejects.toMatchObject(refused);
  vi.restoreAllMocks();
  expect(await jobs.aggregate(LOOKUP)).toEqual([{ _id: 2, n: 1500 }]);
});

test('reads wait for an import that holds what they look into, and it not for them', async () => {
  const db = testDatabase();
  // The file has them by name.
  const people: Collection = new db.Collection<Fields>({ name: 'a', type: 'DOCUMENT_BASED' });
  const jobs: Collection = new db.Collection<Fields>({
    ...{ name: 'b', type: 'DOCUMENT_BASED' },
    relations: { owner: { one: () => people, from: 'to' } },
  }) as never;
  await people.insert({ _id: 'p', v: 1 });
  await jobs.insert({ to: 'p' });
  const file = await new Response(await db.exportAll()).blob();
  const lookup = { $lookup: { from: 'a', localField: 'to', foreignField: '_id', as: 'owner' } };
  const reads: Promise<unknown>[] = [];
  const progress = () => {
    reads.push(
      jobs.filter({}, include),
      jobs.count({ owner: { $some: { v: 1 } } } as never),
      jobs.aggregate([lookup]),
      shown(jobs),
      db.transaction((tx) => tx(jobs).filter({}, include)),
    );
  };
  expect(await db.importAll(file, { progress })).toBe(2);
  const found = await Promise.all(reads);
  const job = expect.objectContaining({ to: 'p' });
  for (const one of found) expect(one === 1 ? [job] : one).toEqual([job]);
});
