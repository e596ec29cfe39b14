import { afterEach, expect, test } from 'vitest';
import { memory } from '../../src/server/index.ts';
import { closeDevices, type Device } from './device.ts';
import { deviceOf, idsOf, Office } from './scope-stories.ts';

afterEach(closeDevices);

const called = (office: Office, call: string) =>
  office.requests.filter((one) => one.startsWith(`${call} `)).length;

/** Devices that have pulled, each with an open stream. */
async function waiting(office: Office, ...scopes: readonly (readonly object[])[]) {
  const devices = scopes.map((list) => deviceOf({ remote: office.connect() }, list).device);
  for (const device of devices) await device.settled();
  await expect.poll(() => called(office, 'stream')).toBe(devices.length);
  await expect.poll(() => called(office, 'watch')).toBe(0);
  office.requests.length = 0;
  return devices as [Device, Device, Device];
}

test('what enters and leaves scopes comes by the stream, to each device its own', async () => {
  const office = new Office(memory());
  await office.write('a', { owner: 'ada', state: 'open' });
  const [ada, ben, all] = await waiting(
    office,
    [{ owner: 'ada' }],
    [{ owner: 'ben' }],
    [{ owner: 'ben' }, { state: 'open' }],
  );
  const shown = async () => Promise.all([ada, ben, all].map(idsOf));
  expect(await shown()).toEqual([['a'], [], ['a']]);
  await office.write('a', { owner: 'ben' });
  await expect.poll(shown).toEqual([[], ['a'], ['a']]);
  await office.write('a', { state: 'done' });
  await office.write('b', { owner: 'ada' });
  await expect.poll(shown).toEqual([['b'], ['a'], ['a']]);
  await office.write('a', { owner: 'cid' });
  await office.write('b', undefined);
  await expect.poll(shown).toEqual([[], [], []]);
  expect([called(office, 'watch'), called(office, 'stream')]).toEqual([0, 0]);
  // One scope: its changes come with the events.
  const asked = office.requests.filter((one) => one.includes('"scope":{"owner":"ada"}'));
  expect(asked).toEqual([]);
});

test('a change of a device reaches the scopes of others by the stream', async () => {
  const office = new Office(memory());
  const [ada, ben] = await waiting(office, [{ owner: 'ada' }], [{ owner: 'ben' }]);
  const jobs = (device: Device) => device.orders as any;
  await jobs(ada).insert({ _id: 'a', owner: 'ben' });
  await expect.poll(() => idsOf(ben)).toEqual(['a']);
  await ada.settled();
  expect(await idsOf(ada)).toEqual([]);
  await jobs(ben).patch('a', { owner: 'ada', note: 'yours' });
  await expect.poll(() => ada.all()).toMatchObject({ a: { note: 'yours' } });
  await expect.poll(() => idsOf(ben)).toEqual([]);
  expect(called(office, 'watch')).toBe(0);
});

test('changes outside a scope wake nobody, and the next one inside comes without a request', async () => {
  const office = new Office(memory());
  await office.write('a', { owner: 'ada' });
  const [ada, ben] = await waiting(office, [{ owner: 'ada' }], [{ owner: 'ben' }]);
  let rounds = 0;
  ada.sync.on('status', ({ state }) => {
    if (state === 'pulling') rounds++;
  });
  for (let time = 0; time < 10; time++) {
    await office.write(`b${time}`, { owner: 'ben' });
    await expect.poll(() => idsOf(ben)).toHaveLength(time + 1);
  }
  expect(rounds).toBe(0);
  await office.write('b0', { owner: 'ada' });
  await expect.poll(() => idsOf(ada)).toEqual(['a', 'b0']);
  expect(rounds).toBe(1);
  expect(office.requests).toEqual([]);
});

test('criteria that have changed count from the next change on', async () => {
  let projects = ['p'];
  const office = new Office(memory(), {
    scopes: { mine: () => (projects.length > 0 ? { project: { $in: projects } } : false) },
  });
  for (const project of ['p', 'q']) await office.write(project, { project });
  const [device] = await waiting(office, [{ mine: true }]);
  projects = ['q'];
  await office.write('x', { project: 'r' });
  await expect.poll(() => idsOf(device)).toEqual(['q']);
  projects = [];
  await office.write('x', { project: 'q' });
  await expect.poll(() => idsOf(device)).toEqual([]);
});

test('an event that is older than a push since is not taken', async () => {
  const store = memory();
  const office = new Office(store);
  const remote = office.connect();
  const { signal } = new AbortController();
  const ask = { limit: 100, signal };
  await office.write('a', { n: 1 });
  const { checkpoint } = await remote.pull(undefined, ask);
  const rings = (remote.watch as NonNullable<typeof remote.watch>)(checkpoint, { signal });
  const rung = rings[Symbol.asyncIterator]().next();
  await expect.poll(() => called(office, 'stream')).toBe(1);
  await office.write('a', { n: 2 });
  await rung;
  // As after a conflict, which has told the newer version.
  const [row] = await store.read('jobs', ['a']);
  const change = { id: 'a', base: row?.version, key: 'd.1', document: { _id: 'a', n: 3 } };
  const made = await remote.push([change], { signal });
  const { changes, checkpoint: next } = await remote.pull(checkpoint, ask);
  expect(changes).toMatchObject([{ ...made[0], document: { n: 3 } }]);
  // Later ones are.
  const again = (remote.watch as NonNullable<typeof remote.watch>)(next, { signal });
  const ringing = again[Symbol.asyncIterator]().next();
  await office.write('b', {});
  await ringing;
  office.requests.length = 0;
  expect((await remote.pull(next, ask)).changes).toMatchObject([{ id: 'b' }]);
  expect(office.requests).toEqual([]);
});
