import { afterEach, expect, test } from 'vitest';
import { Database } from '../../src/index.ts';
import { fromJson, replicate, toJson } from '../../src/replication/index.ts';
import { closeDevices, Device } from './device.ts';
import { MemoryRemote } from './memory-remote.ts';

afterEach(closeDevices);

test('a resolver that returns undefined deletes a document that both sides hold', async () => {
  const remote = new MemoryRemote();
  remote.write('a', { count: 1 });
  const device = new Device(remote, { resolve: () => undefined });
  await device.settled();
  device.sync.pause();
  await device.orders.patch('a', { count: 2 });
  remote.write('a', { count: 3 });
  device.sync.resume();
  await device.settled();
  expect(await device.all()).toEqual({});
  expect(remote.documents()).toEqual([]);
  expect(device.sync.conflicts()).toMatchObject([{ id: 'a', result: undefined }]);
});

test('a collection replicates once in a page', async () => {
  const remote = new MemoryRemote();
  const device = new Device(remote);
  const again = () => replicate(device.orders, { remote });
  expect(again).toThrow(expect.objectContaining({ code: 'option_conflict', place: 'orders' }));
  await device.sync.stop();
  const second = again();
  await second.settled({ timeout: 60_000 });
  await second.stop();
});

test('an event for each status, and none twice', async () => {
  const remote = new MemoryRemote();
  const device = new Device(remote);
  const shown: string[] = [];
  device.sync.on('status', (status) => shown.push(JSON.stringify(status)));
  await device.settled();
  await device.orders.insert({ _id: 'a' });
  await device.settled();
  expect(shown.length).toBeGreaterThan(3);
  for (const [index, one] of shown.entries()) expect(one).not.toBe(shown[index - 1]);
});

test('a document that is null is deleted', async () => {
  const remote = new MemoryRemote();
  remote.write('a', { count: 1 });
  const { pull } = MemoryRemote.prototype;
  remote.pull = async function (...args) {
    const page = await pull.apply(this, args);
    const changes = page.changes.map((one) => ({ ...one, document: one.document ?? null }));
    return { ...page, changes } as never;
  };
  const device = new Device(remote);
  await device.settled();
  expect(Object.keys(await device.all())).toEqual(['a']);
  remote.write('a', undefined);
  await device.settled();
  expect(await device.all()).toEqual({});
});

test('settled() after stop() says so, also where all is forgotten', async () => {
  const device = new Device(new MemoryRemote());
  await device.settled();
  await device.sync.stop({ forget: true });
  await expect(device.settled()).rejects.toMatchObject({ code: 'replication_stopped' });
});

test('what an adapter throws is in the message', async () => {
  const remote = new MemoryRemote();
  remote.before = () => {
    throw new RangeError('a mistake of mine');
  };
  const device = new Device(remote);
  const error = new Promise<Error>((resolve) => {
    device.sync.on('status', (status) => status.error && resolve(status.error));
  });
  expect(await error).toMatchObject({
    code: 'remote_failed',
    message: expect.stringContaining('a mistake of mine'),
  });
});

test('documents travel as JSON', () => {
  const document = {
    ...{ _id: 'a', at: new Date(0), bytes: new Uint8Array([1, 2]), big: 2n ** 70n },
    map: new Map([['k', new Set([1])]]),
  };
  expect(fromJson(JSON.parse(JSON.stringify(toJson(document))))).toEqual(document);
  for (const wrong of [null, 3, [], {}, { _id: 1 }, { _id: 'a', b: { $date: 'x' } }])
    expect(() => fromJson(wrong)).toThrow(expect.objectContaining({ code: 'answer_invalid' }));
});

test('replicate() takes a collection', () => {
  const db = new Database({ name: 'no collection', storage: 'memory' });
  expect(() => replicate(db as never, { remote: new MemoryRemote() })).toThrow(
    expect.objectContaining({ code: 'option_invalid', place: 'collection' }),
  );
});
