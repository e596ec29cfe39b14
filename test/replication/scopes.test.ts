import { afterEach, describe, expect, test } from 'vitest';
import { http, type Remote } from '../../src/replication/index.ts';
import { createHandler, memory, type Store } from '../../src/server/index.ts';
import { closeDevices, Device } from './device.ts';
import { MemoryRemote } from './memory-remote.ts';
import { deviceOf, idsOf, Office, scopeStories } from './scope-stories.ts';

afterEach(closeDevices);

describe('memory()', () => scopeStories(memory));

test('a scope that was added for a time goes by itself', async () => {
  const office = new Office(memory());
  await office.write('a', { owner: 'ada' });
  const { device, settled } = deviceOf(office, []);
  await device.sync.scopes.add({ owner: 'ada' }, { keep: '7d' });
  await settled();
  expect(await idsOf(device)).toEqual(['a']);
  await device.sync.scopes.add({ owner: 'ada' }, { keep: 0 });
  await settled();
  expect(await idsOf(device)).toEqual([]);
  expect(await device.sync.scopes.list()).toEqual([]);
});

test('what is inserted for a scope stays, though the round under way began without it', async () => {
  const office = new Office(memory());
  let begin: (value?: unknown) => void = () => undefined;
  let go: (value?: unknown) => void = () => undefined;
  const begun = new Promise((resolve) => {
    begin = resolve;
  });
  const going = new Promise((resolve) => {
    go = resolve;
  });
  const seen: string[] = [];
  const slow: Remote<string> = {
    ...{ id: office.remote.id, scopes: true },
    async pull(...asked) {
      begin();
      await going;
      seen.push((await idsOf(device)).join());
      return office.remote.pull(...asked);
    },
    push: (...asked) => office.remote.push(...asked),
  };
  const device = new Device(slow, { scopes: [{ owner: 'ben' }] });
  await begun;
  await device.sync.scopes.add({ owner: 'ada' });
  await device.orders.insert({ _id: 'a', owner: 'ada' } as never);
  go();
  await device.settled();
  await device.settled();
  expect(await idsOf(device)).toEqual(['a']);
  expect(seen.length).toBeGreaterThan(2);
  expect(new Set(seen)).toEqual(new Set(['a']));
});

test('a scope that is added while a round pushes is pulled by the next one', async () => {
  const office = new Office(memory());
  await office.write('a', { owner: 'ada' });
  let push: Remote<string>['push'] = (...pushed) => office.remote.push(...pushed);
  const remote: Remote<string> = {
    ...{ id: office.remote.id, scopes: true },
    pull: (...asked) => office.remote.pull(...asked),
    push: (...pushed) => push(...pushed),
  };
  const device = new Device(remote, { scopes: [{ owner: 'ben' }] });
  await device.settled();
  push = async (...pushed) => {
    push = (...again) => office.remote.push(...again);
    await device.sync.scopes.add({ owner: 'ada' });
    return push(...pushed);
  };
  await device.orders.insert({ _id: 'b', owner: 'ben' } as never);
  await expect.poll(() => idsOf(device), { timeout: 10_000 }).toEqual(['a', 'b']);
});

test('what read hides is in no scope', async () => {
  const authorize = () => ({ read: ({ secret }: { secret?: boolean }) => !secret }) as never;
  const office = new Office(memory(), { authorize });
  await office.write('a', { owner: 'ada' });
  await office.write('b', { owner: 'ada', secret: true });
  const { device, settled } = deviceOf(office, [{ owner: 'ada' }]);
  await settled();
  expect(await idsOf(device)).toEqual(['a']);
  await office.write('a', { secret: true });
  await settled();
  expect(await idsOf(device)).toEqual([]);
});

test('what leaves while a first pull reads on goes', async () => {
  const store = memory();
  const pull: Store['pull'] = async (name, after) => {
    const page = await store.pull(name, after, 2);
    if (after === undefined) await office.write('a', { owner: 'ben' });
    return page;
  };
  const office = new Office({
    pull,
    push: (...asked) => store.push(...asked),
    read: (...asked) => store.read(...asked),
    served: async (...asked) => (await store.served?.(...asked)) ?? [],
    watch: (...asked) => store.watch(...asked),
  });
  for (const id of ['a', 'b', 'c', 'd']) await office.write(id, { owner: 'ada' });
  const { device, settled } = deviceOf(office, [{ owner: 'ada' }]);
  await settled();
  expect(await idsOf(device)).toEqual(['b', 'c', 'd']);
});

test('a server restored from an older copy takes away what it does not have', async () => {
  const store = memory();
  let { remote } = new Office(store);
  const office = new Office(store);
  await office.write('a', { owner: 'ada' });
  const before = store.copy();
  await office.write('b', { owner: 'ada' });
  const switching: Remote<string> = {
    ...{ id: 'one', scopes: true },
    pull: (...asked) => remote.pull(...asked),
    push: (...asked) => remote.push(...asked),
  };
  const device = new Device(switching, { scopes: [{ owner: 'ada' }] });
  await device.settled();
  expect(await idsOf(device)).toEqual(['a', 'b']);
  ({ remote } = new Office(before));
  await device.settled();
  expect(await idsOf(device)).toEqual(['a']);
});

test.each([
  [{ scopes: { owner: 'ada' } }, 'option_invalid'],
  [{ scopes: [{}] }, 'option_invalid'],
  [{ scopes: [{ a: 1, b: 2 }] }, 'option_invalid'],
  [{ scopes: [{ a: new Date() }] }, 'option_invalid'],
  [{ scopes: [{ a: undefined }] }, 'option_invalid'],
  [{ scopes: [{ a: { $ne: 1 } }] }, 'option_invalid'],
])('replicate() refuses %j', (options, code) => {
  const { remote } = new Office(memory());
  expect(() => new Device(remote, options as never)).toThrow(
    expect.objectContaining({ code, place: 'scopes' }),
  );
});

test('a remote without scopes is refused, and an older server as it answers', async () => {
  expect(() => new Device(new MemoryRemote(), { scopes: [] })).toThrow(
    expect.objectContaining({ code: 'option_conflict', place: 'scopes' }),
  );
  const office = new Office(memory());
  const page = { changes: [], checkpoint: '0.0', more: false };
  const fetch = async () => Response.json(page);
  const remote = http({ url: 'https://example.com/jobs', fetch: fetch as never });
  const { device } = deviceOf({ ...office, remote } as never, [{ owner: 'ada' }]);
  await expect(device.settled()).rejects.toMatchObject({ code: 'answer_invalid' });
  const whole = deviceOf(office, undefined).device;
  await expect(whole.sync.scopes.add({ owner: 'ada' })).rejects.toMatchObject({
    code: 'option_conflict',
  });
  await expect(device.sync.scopes.add({ a: 1, b: 1 })).rejects.toMatchObject({
    code: 'option_invalid',
  });
  await expect(device.sync.scopes.add({ a: 1 }, { keep: '7 days' })).rejects.toMatchObject({
    place: 'keep',
  });
});

describe('a hostile page', () => {
  const errors: unknown[] = [];
  const handler = createHandler({
    ...{ store: memory(), authorize: () => true, onError: (error) => void errors.push(error) },
    scopes: {
      owner: (owner) => (typeof owner === 'string' ? { owner } : false),
      broken: () => undefined as never,
      odd: () => ({ $nope: 1 }),
      async throwing() {
        throw new Error('a secret');
      },
    },
  });
  const ask = async (scope: unknown, after: unknown = null) => {
    const body = JSON.stringify({ after, scope });
    const headers = { 'content-type': 'application/json' };
    const url = 'https://example.com/jobs/pull';
    const response = await handler(new Request(url, { method: 'POST', headers, body }));
    return [response.status, JSON.stringify(await response.json())] as const;
  };

  test.each([
    ['no scope', 'owner', 400],
    ['none', {}, 400],
    ['two', { owner: 'a', other: 'b' }, 400],
    ['an unknown one', { constructor: 1 }, 400],
    ['one of the prototype', JSON.parse('{"__proto__":1}'), 400],
    ['a scope of criteria', { owner: { $ne: 1 } }, 400],
    ['one that returns nothing', { broken: 1 }, 503],
    ['one that returns no criteria', { odd: 1 }, 503],
    ['one that throws', { throwing: 1 }, 503],
  ])('with %s', async (_, scope, status) => {
    const [found, text] = await ask(scope);
    expect(found).toBe(status);
    expect(text).not.toContain('secret');
  });

  test.each(['x', '0.0~', '~', '0.0~none~none', `${'9'.repeat(30)}.1~none`])(
    'with the checkpoint %s',
    async (after) => {
      const [status] = await ask({ owner: 'ada' }, after);
      expect([200, 400]).toContain(status);
    },
  );
});
