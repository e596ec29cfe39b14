import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Remote } from '../../src/replication/index.ts';
import { createHandler, postgres } from '../../src/server/index.ts';
import { startCluster } from '../../tools/servers/cluster.mjs';
import { closeDevices, type Device } from '../replication/device.ts';
import { Random } from '../setup/random.ts';
import { ReplacedServer, SUCCESSORS } from './replaced-server.ts';

/** Queries after which the server is killed. */
const CRASHES = [40, 110, 190, 260];

const OFFICE = 'office';
const OWNERS = ['ada', 'ben', 'cid'];

interface Job {
  owner: string;
  count?: number;
  note?: string;
}

/** Whose jobs each user may have, besides the own. */
const rights = new Map<string, string[]>();
const ownersFor = (user: string) => [user, ...(rights.get(user) ?? [])];

let server: ReplacedServer;

beforeAll(async () => {
  server = new ReplacedServer(await startCluster('fsync=off'), async (query, isNew) => {
    const store = postgres(query);
    if (isNew) await store.setup();
    return createHandler({
      ...{ store, onError: () => undefined, hold: 20 },
      authorize: () => true,
      scopes: {
        mine: (_, { headers }) => ({ owner: { $in: ownersFor(headers.get('user') as string) } }),
      },
    });
  });
  await server.use(undefined, true);
});
afterEach(async () => {
  server.isCut = false;
  leaks.length = 0;
  rights.clear();
  await closeDevices();
});
afterAll(() => server.close());

/** Documents that came to somebody whose scope does not have them. */
const leaks: string[] = [];

function deviceOf(collection: string, user: string) {
  const remote: Remote<string> = server.remote(collection, user);
  const pull = remote.pull.bind(remote);
  remote.pull = async (...asked) => {
    // Rights may change before the answer comes.
    const may = ownersFor(user);
    const page = await pull(...asked);
    for (const { id, document } of page.changes) {
      const owner = (document as Job | undefined)?.owner;
      if (owner && user !== OFFICE && !may.includes(owner)) leaks.push(`${user} ${id} ${owner}`);
    }
    return page;
  };
  return server.device(remote, user === OFFICE ? {} : { scopes: [{ mine: true }] });
}

const jobsOf = async (device: Device) => (await device.all()) as unknown as Record<string, Job>;

async function settled(...devices: Device[]): Promise<void> {
  // What one has pushed in its round may be in the scope of another.
  for (const device of [...devices, ...devices]) {
    device.sync.resume();
    await device.settled();
  }
}

/** That each has the jobs of its scope, as the office has them, and nothing waits. */
async function expectScopes(office: Device, devices: Readonly<Record<string, Device>>) {
  const jobs = Object.entries(await jobsOf(office));
  for (const [user, device] of Object.entries(devices)) {
    const own = jobs.filter(([, { owner }]) => ownersFor(user).includes(owner));
    expect([user, await jobsOf(device)]).toEqual([user, Object.fromEntries(own)]);
    expect(await device.sync.rejected()).toEqual([]);
    expect(device.sync.status).toMatchObject({ state: 'idle', pending: 0 });
  }
  expect(leaks).toEqual([]);
}

test('a server that is killed as jobs change hands: each device has its own, no change is lost', async () => {
  const office = deviceOf('killed', OFFICE);
  const devices = { ada: deviceOf('killed', 'ada'), ben: deviceOf('killed', 'ben') };
  const all = [office, devices.ada, devices.ben];
  const ids = Array.from({ length: 12 }, (_, at) => `job ${at}`);
  await office.orders.insertMany(
    ids.map((_id, at) => ({ _id, owner: OWNERS[at % OWNERS.length], count: 0, note: '' })),
  );
  await settled(...all);
  const random = new Random(7);
  const end = server.killAfter(CRASHES);
  const counts = new Map<string, number>();
  for (let round = 0; round < 16; round++) {
    rights.set('ada', random.pick([[], ['ben'], ['cid']]));
    for (let moved = 0; moved < 4; moved++)
      await office.orders.patch(random.pick(ids), { owner: random.pick(OWNERS) });
    for (const device of [devices.ada, devices.ben]) {
      for (const id of Object.keys(await jobsOf(device))) {
        await device.orders.patch(id, { $inc: { count: 1 } });
        counts.set(id, (counts.get(id) ?? 0) + 1);
      }
    }
    await Promise.all(all.map((device) => device.settled()));
  }
  expect((await end()).queries).toBeGreaterThan(CRASHES.at(-1) as number);
  await settled(...all);
  await expectScopes(office, devices);
  const jobs = await jobsOf(office);
  expect(ids.map((id) => [id, jobs[id]?.count])).toEqual(
    ids.map((id) => [id, counts.get(id) ?? 0]),
  );
}, 300_000);

test.each(SUCCESSORS)(
  '%s takes over as jobs change hands: each device has its own',
  async (which) => {
    await server.use();
    const office = deviceOf(which, OFFICE);
    const [ada, ben] = [deviceOf(which, 'ada'), deviceOf(which, 'ben')];
    await office.orders.insertMany([
      { _id: 'hers', owner: 'ada' },
      { _id: 'given', owner: 'ada' },
      { _id: 'his', owner: 'ben' },
    ]);
    await settled(office, ada, ben);
    const next = await server.successor(which);

    // Lost with the server.
    await office.orders.patch('given', { owner: 'ben' });
    await ada.orders.insert({ _id: 'lost', owner: 'ada' });
    await settled(office, ada, ben);
    expect(Object.keys(await jobsOf(ben)).sort()).toEqual(['given', 'his']);

    server.isCut = true;
    await ben.orders.patch('given', { note: 'done by ben' });
    await ada.orders.insert({ _id: 'new', owner: 'ada' });
    await ada.orders.patch('hers', { note: 'for cid', owner: 'cid' });
    await office.orders.patch('his', { owner: 'ada' });
    await next();
    server.isCut = false;
    await settled(office, ada, ben);
    const third = deviceOf(which, 'cid');
    await settled(third);
    await expectScopes(office, { ada, ben, cid: third });
    expect(await jobsOf(office)).toMatchObject({
      given: { owner: 'ada', note: 'done by ben' },
      hers: { owner: 'cid', note: 'for cid' },
      his: { owner: 'ada' },
      new: { owner: 'ada' },
    });
  },
  300_000,
);
