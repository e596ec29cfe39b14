import { afterEach, describe, expect, test } from 'vitest';
import { type EncryptOptions, http } from '../../../src/replication/index.ts';
import type { LocalChange, Remote } from '../../../src/replication/protocol/remote.ts';
import {
  flakyRemote,
  type OpenedRemote,
  remoteCases,
  remoteSuite,
} from '../../../src/replication/testing/index.ts';
import { createHandler, memory } from '../../../src/server/index.ts';
import { closeDevices, Device } from '../device.ts';
import { documentedRemote } from '../documented-remote.ts';
import { MemoryRemote } from '../memory-remote.ts';

afterEach(closeDevices);

function handledRemote(encrypt?: EncryptOptions): OpenedRemote {
  const made = () =>
    createHandler({
      ...{ store: memory(), authorize: () => true, hold: 50 },
      scopes: { owner: (owner) => ({ owner }) },
    });
  let handler = made();
  return {
    remote: http({
      url: 'https://example.com/sync/orders',
      encrypt,
      fetch: (url, init) => handler(new Request(url, init)),
    }),
    async recreate() {
      handler = made();
    },
    scope: { ask: { owner: 'ada' }, inside: { owner: 'ada' }, outside: { owner: 'ben' } },
  };
}

function memoryRemote(): OpenedRemote {
  const remote = new MemoryRemote();
  const recreate = async () => remote.restore(() => undefined);
  return { remote, recreate };
}

remoteSuite({ name: 'http()', open: () => handledRemote() }, { describe, test });
remoteSuite(
  {
    name: 'http() that encrypts',
    open: () => handledRemote({ key: new Uint8Array(32), clear: ['owner'] }),
  },
  { describe, test },
);
remoteSuite(
  {
    name: 'http() that encrypts ids, too',
    open: () =>
      handledRemote({ key: new Uint8Array(32), clear: ['owner'], ids: new Uint8Array(32) }),
  },
  { describe, test },
);
remoteSuite({ name: 'in memory', open: memoryRemote, lacks: ['scopes'] }, { describe, test });
remoteSuite(
  {
    name: 'of the docs',
    open: () => ({ remote: documentedRemote() }),
    lacks: ['scopes', 'watch', 'reset'],
  },
  { describe, test },
);

type Broken = (remote: Remote<any>) => Partial<Remote<any>>;

/** What adapters do wrong. */
const broken: Record<string, Broken> = {
  'every push is accepted': (remote) => ({
    async push(rows, ask) {
      const results = await remote.push(rows, ask);
      return results.map((one) => ('conflict' in one ? { version: '1' } : one));
    },
  }),
  'results in another order': (remote) => ({
    push: async (rows, ask) => [...(await remote.push(rows, ask))].reverse(),
  }),
  'keys are new each time': (remote) => ({
    push: (rows, ask) =>
      remote.push(
        rows.map((row): LocalChange => ({ ...row, key: `x.${Math.random()}` })),
        ask,
      ),
  }),
  'a page is longer than its limit': (remote) => ({
    pull: (after, ask) => remote.pull(after, { ...ask, limit: 1000 }),
  }),
  'the checkpoint is one change ahead': (remote) => ({
    async pull(after, ask) {
      const page = await remote.pull(after, ask);
      return page.more ? { ...page, checkpoint: page.checkpoint + 1 } : page;
    },
  }),
  'the end is never said': (remote) => ({
    pull: async (after, ask) => ({ ...(await remote.pull(after, ask)), more: true }),
  }),
  'deletions are left out': (remote) => ({
    async pull(after, ask) {
      const page = await remote.pull(after, ask);
      return { ...page, changes: page.changes.filter(({ document }) => document) };
    },
  }),
  'a new history is not noticed': (remote) => ({
    async pull(after, ask) {
      const { reset: _, ...page } = await remote.pull(after, ask);
      return page;
    },
  }),
  'documents are JSON': (remote) => ({
    push: (rows, ask) =>
      remote.push(
        rows.map((row) => ({
          ...row,
          document:
            row.document &&
            JSON.parse(
              JSON.stringify(row.document, (_, one) => (typeof one === 'bigint' ? 0 : one)),
            ),
        })),
        ask,
      ),
  }),
};

test.for(Object.keys(broken))('the suite finds a remote that is broken: %s', async (name) => {
  const failures: string[] = [];
  for (const { run, needs } of remoteCases) {
    if (needs === 'scopes') continue;
    const open = () => {
      const { remote, recreate } = memoryRemote() as Required<OpenedRemote>;
      const one = {
        ...{ id: remote.id, pull: remote.pull.bind(remote), push: remote.push.bind(remote) },
        ...{ watch: remote.watch?.bind(remote) as never, recreate },
      };
      return { remote: { ...one, ...broken[name]?.(remote) } as Remote<any>, recreate };
    };
    await run({ name, open }).catch(({ message }: Error) => failures.push(message));
  }
  expect(failures).not.toEqual([]);
});

test('replicate() behind a network that fails ends equal to the server', async () => {
  const server = new MemoryRemote();
  const networks = [1, 2].map((seed) => flakyRemote(server, { seed }));
  const devices = networks.map((network) => new Device(network));
  for (let step = 0; step < 10; step++)
    for (const [at, { orders, sync }] of devices.entries()) {
      await orders.insert({ _id: `${at} ${step}`, count: 0 });
      await orders.patch(`${at} ${step >> 1}`, { count: step });
      sync.resume();
    }
  for (const network of networks) await network.heal();
  for (const { sync } of [...devices, ...devices]) {
    sync.resume();
    await sync.settled();
  }
  const stored = server.documents() as { _id: string; count: number }[];
  expect(stored).toHaveLength(20);
  for (const device of devices) {
    const held = await device.all();
    for (const { _id, count } of stored) expect(held[_id]).toMatchObject({ count });
  }
});

test('a runner without its functions is named', () => {
  expect(() => remoteSuite({ name: 'x', open: memoryRemote }, {} as never)).toThrow(
    expect.objectContaining({ code: 'option_invalid', place: 'runner' }),
  );
});
