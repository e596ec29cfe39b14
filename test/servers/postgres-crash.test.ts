import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresStore, postgres, type StoreRow } from '../../src/server/index.ts';
import { type Cluster, startCluster } from '../../tools/servers/cluster.mjs';
import { closeDevices } from '../replication/device.ts';
import { deviceOf, idsOf, Office } from '../replication/scope-stories.ts';
import { row, versionOf } from '../server/store-contract.ts';
import { connectionsTo, storeOn } from './connections.ts';

const PUSHERS = 5;
const PUSHES = 60;
const CRASHES = [50, 120, 200];

let cluster: Cluster;
let store: PostgresStore;
const closing: (() => Promise<unknown>)[] = [];

/** A store on a cluster that ends with the test. */
async function storeAt({ folder }: Cluster, database?: string): Promise<PostgresStore> {
  const pool = connectionsTo(folder, 'public', PUSHERS + 1, database);
  closing.push(() => pool.end());
  return storeOn(pool);
}

beforeAll(async () => {
  cluster = await startCluster();
  store = await storeAt(cluster);
  await store.setup();
});

afterAll(async () => {
  for (const close of closing.reverse()) await close();
  await cluster.remove();
});

/** All changes after a checkpoint; fails for a reset. */
async function pullAll(from: PostgresStore, after?: string) {
  const changes = [];
  for (let checkpoint = after; ; ) {
    const page = await from.pull('orders', checkpoint, 100);
    expect(page.reset).toBeUndefined();
    changes.push(...page.changes);
    checkpoint = page.checkpoint;
    if (!page.more) return { changes, checkpoint };
  }
}

const isReset = async (from: PostgresStore, after: string): Promise<boolean> =>
  (await from.pull('orders', after, 1)).reset === true;

test('a postmaster killed in the middle of pushes: each push is applied once', async () => {
  const pool = connectionsTo(cluster.folder, 'public', PUSHERS);
  closing.push(() => pool.end());
  let queries = 0;
  const forgetful = postgres(async (text, values) => {
    const result = await pool.query(text, values);
    queries += 1;
    if (queries % 10 === 0) throw new Error('the answer was lost');
    return result;
  });
  let accepted = 0;
  let up: Promise<void> = Promise.resolve();
  let failures = 0;

  async function restart(): Promise<void> {
    await cluster.crash();
    await cluster.start();
  }

  async function pushUntilAnswered(rows: readonly StoreRow[]) {
    for (let attempt = 0; attempt < 1000; attempt++) {
      await up;
      try {
        return await forgetful.push('orders', rows);
      } catch {
        failures += 1;
      }
    }
    throw new Error('PostgreSQL does not answer any more.');
  }

  async function run(pusher: number): Promise<void> {
    let base: string | undefined;
    for (let count = 1; count <= PUSHES; count++) {
      const rows = [
        row(`counter ${pusher}`, count, base ? { base } : {}),
        row(`${pusher} ${count}`, 1),
      ];
      const results = await pushUntilAnswered(rows);
      base = versionOf(results[0]);
      versionOf(results[1]);
      accepted += 1;
      if (CRASHES.includes(accepted)) up = restart();
    }
  }

  const { checkpoint: early } = await pullAll(store);
  await Promise.all(Array.from({ length: PUSHERS }, (_, pusher) => run(pusher)));
  expect(failures).toBeGreaterThan(CRASHES.length);
  const { changes, checkpoint } = await pullAll(store, early);
  const counters = changes.filter(({ id }) => id.startsWith('counter'));
  expect(counters.map(({ document }) => document?.value)).toEqual(Array(PUSHERS).fill(PUSHES));
  expect(changes).toHaveLength(PUSHERS + PUSHERS * PUSHES);
  // numbers count changes: none was applied twice
  expect(checkpoint.split('.')[1]).toBe(String(2 * PUSHERS * PUSHES));
  expect(await pullAll(store, checkpoint)).toEqual({ changes: [], checkpoint });
});

test('a copy of the files is noticed by clients that are ahead of it', async () => {
  await store.push('orders', [row('before', 1)]);
  const { checkpoint: before } = await pullAll(store);
  await cluster.stop();
  const copy = await cluster.copy();
  closing.push(() => copy.remove());
  await cluster.start();
  await store.push('orders', [row('lost 1', 1), row('lost 2', 1)]);
  const { checkpoint: ahead } = await pullAll(store);
  const restored = await storeAt(copy);
  expect(await isReset(restored, ahead)).toBe(true);
  // also when the copy has made as many changes of its own
  await restored.push('orders', [row('new 1', 1), row('new 2', 1), row('new 3', 1)]);
  expect(await isReset(restored, ahead)).toBe(true);
  const { changes } = await pullAll(restored, before);
  expect(changes.map(({ id }) => id)).toEqual(['new 1', 'new 2', 'new 3']);
});

test('scopes on a postmaster that is killed, and on an older copy of the files', async () => {
  let store = await storeAt(cluster);
  const current = () => store;
  const office = new Office(
    {
      pull: (...asked) => current().pull(...asked),
      push: (...asked) => current().push(...asked),
      read: (...asked) => current().read(...asked),
      served: async (...asked) => (await current().served?.(...asked)) ?? [],
      watch: (...asked) => current().watch(...asked),
    },
    { onError: () => undefined },
  );
  const { device, jobs, settled } = deviceOf(office, [{ owner: 'ada' }, { state: 'open' }]);
  for (const id of ['kept', 'leaves', 'lost']) await office.write(id, { owner: 'ada' });
  await office.write('other', { owner: 'ben' });
  await settled();
  expect(await idsOf(device)).toEqual(['kept', 'leaves', 'lost']);
  await cluster.stop();
  const copy = await cluster.copy();
  closing.push(() => copy.remove());
  await cluster.start();

  // Changes while it is away: of the device, and of others as it is back.
  await cluster.crash();
  await jobs.patch('kept', { note: 'mine' });
  await jobs.insert({ _id: 'given', owner: 'ben', note: 'mine' });
  device.sync.resume();
  await cluster.start();
  store = await storeAt(cluster);
  await office.write('leaves', { owner: 'ben' });
  await office.write('other', { state: 'open' });
  await settled();
  expect(await idsOf(device)).toEqual(['kept', 'lost', 'other']);
  for (const id of ['kept', 'given'])
    expect(await office.document(id)).toMatchObject({ note: 'mine' });

  // What the copy does not know goes, its own history comes.
  office.isCut = true;
  await jobs.patch('lost', { note: 'not pushed' });
  store = await storeAt(copy);
  await office.write('lost', { state: 'done' });
  await office.write('kept', { owner: 'ben' });
  office.isCut = false;
  await settled();
  expect(await idsOf(device)).toEqual(['leaves', 'lost']);
  expect(await office.document('lost')).toMatchObject({ note: 'not pushed', state: 'done' });
  expect(await office.document('given')).toBeUndefined();
  await closeDevices();
});

test('a dump that was restored into another database begins another history', async () => {
  const { changes, checkpoint } = await pullAll(store);
  cluster.run('createdb', 'restored');
  cluster.run('pg_dump', '-d', 'postgres', '-f', `${cluster.folder}/dump.sql`);
  cluster.run(
    'psql',
    '-q',
    '-d',
    'restored',
    '-v',
    'ON_ERROR_STOP=1',
    '-f',
    `${cluster.folder}/dump.sql`,
  );
  const restored = await storeAt(cluster, 'restored');
  expect(await isReset(restored, checkpoint)).toBe(true);
  expect((await pullAll(restored)).changes).toEqual(changes);
});

test('a standby answers pulls, and begins another history when it is promoted', async () => {
  const { checkpoint } = await pullAll(store);
  const standby = await cluster.standby();
  closing.push(() => standby.remove());
  const promoted = await storeAt(standby);
  expect(await pullAll(promoted, checkpoint)).toEqual({ changes: [], checkpoint });
  standby.run('psql', '-d', 'postgres', '-c', 'select pg_promote()');
  expect(await isReset(promoted, checkpoint)).toBe(true);
  const [result] = await promoted.push('orders', [row('promoted', 1)]);
  expect((await pullAll(promoted)).changes.at(-1)?.version).toBe(versionOf(result));
});
