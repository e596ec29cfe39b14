import { CairnError } from '../../src/index.ts';
import type { StorageDriver } from '../../src/storage/drivers/driver.ts';
import { contentsOf } from '../backup/cut-world.ts';
import { openClient } from '../engine/engine-client.ts';
import { settled } from '../engine/fake-clock.ts';

const indexes = ['n', 'city'];
const things = { name: 'things', type: 'DOCUMENT_BASED', backup_retention_time: -1 } as const;
const values = { name: 'values', type: 'KEY_VALUE_BASED' } as const;

/** Bytes below which there is no checkpoint. */
const CHECKPOINT_AFTER = 1000;

/** Where to open it, and how. */
export interface AskOptions {
  readonly driver: StorageDriver;
  readonly caching: boolean;
}

/** What all calls answer, by their names: JSON, or the code of an error. */
export type Answers = Readonly<Record<string, string>>;

/** What was said of damage. */
export interface Report {
  readonly answers: Answers;
  /** The messages of errors, events and problems. */
  readonly said: readonly string[];
  /** What `verify()` of both collections found; the code of the error where it rejects. */
  readonly verified: readonly string[];
}

/**
 * Fills a database: a segment with its documents apart, small ones with updates and deletes,
 * documents that JSON does not keep, indexes, a checkpoint, two backups, a last small segment.
 */
export async function fill(driver: StorageDriver): Promise<void> {
  const { client, clock } = openClient(driver, undefined, CHECKPOINT_AFTER);
  const all = new client.Collection<any>({ ...things, indexes, indicate_created_at: true });
  const pad = 'p'.repeat(600);
  await all.insertMany(
    Array.from({ length: 120 }, (_, n) => ({
      ...{ _id: `t${n}`, n, city: `c${n % 7}`, pad },
      ...(n % 40 === 5 && { at: new Date(n), of: new Map([[n, 'map']]) }),
    })),
  );
  await all.createBackup({ label: 'first' });
  await clock.advance(2500);
  for (let turn = 0; turn < 200; turn++) await settled();
  await all.patch('t3', { n: 1003 });
  await all.deleteMany({ n: 4 });
  await all.createBackup({ label: 'second' });
  const map = new client.Collection<any>(values);
  await map.set('a', { b: 1 });
  await map.save();
  await map.set('c', new Date(3));
  await all.save();
  await all.insert({ _id: 'last', n: 2000, city: 'x', at: new Date(9) });
  await client.close();
}

/** Opens it and asks everything. */
export async function ask({ driver, caching }: AskOptions): Promise<Report> {
  const { client } = openClient(driver, undefined, CHECKPOINT_AFTER);
  const said: string[] = [];
  client.on('error', ({ error }: { error: Error }) => said.push(error.message));
  const all = new client.Collection<any>({
    ...things,
    indexes,
    indicate_created_at: true,
    caching,
  });
  const map = new client.Collection<any>({ ...values, caching });
  const answers: Record<string, string> = {};
  const note = async (name: string, answer: () => Promise<unknown>): Promise<void> => {
    try {
      answers[name] = JSON.stringify(await answer()) ?? 'undefined';
    } catch (error) {
      if (!(error instanceof CairnError)) throw error;
      answers[name] = `error ${error.code}`;
      said.push(error.message);
    }
  };
  // The first ones come from the checkpoint.
  await Promise.all([
    note('first get', () => all.get('t7')),
    note('first filter', () => all.filter({ city: 'c3' })),
    note('first of values', () => map.get('a')),
  ]);
  for (const id of ['t0', 't3', 't4', 't5', 't119', 'last', 'none'])
    await note(`get ${id}`, () => all.get(id));
  await note('getMany', () => all.getMany(['t10', 't11', 'last']));
  await note('count', () => all.count());
  await note('count by index', () => all.count({ n: { $gte: 50 } }));
  await note('filter by index', () => all.filter({ n: { $gte: 100 } }, { sort: { n: -1 } }));
  await note('filter all', () => all.filter({}));
  await note('entries', () => map.entries());
  await note('collections', () => client.collections());
  await note('list', async () =>
    (await all.listBackups()).map(({ name, label, documents }) => [name, label, documents]),
  );
  const verified = [...(await verify(all)), ...(await verify(map))];
  for (const label of ['first', 'second'])
    await note(`restore ${label}`, async () => {
      const backups = await all.listBackups();
      const found = backups.find((one) => one.label === label);
      return found && [await all.loadBackup(found.name), await contentsOf(all)];
    });
  await client.close().catch(() => undefined);
  return { answers, said: [...said, ...verified], verified };
}

async function verify(collection: { verify(): Promise<any> }): Promise<string[]> {
  try {
    const { problems, backups } = await collection.verify();
    const all = [...problems, ...backups.flatMap((one: { problems: object[] }) => one.problems)];
    return all.map(({ message }) => message);
  } catch (error) {
    if (!(error instanceof CairnError)) throw error;
    return [error.message];
  }
}
