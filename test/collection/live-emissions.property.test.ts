import { isDeepStrictEqual } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import {
  connect,
  Database,
  type DatabaseClient,
  type DocumentCollection,
  type LiveQuery,
  type LiveSnapshot,
} from '../../src/index.ts';
import { fc, runs } from '../setup/properties.ts';
import { MessageWorker } from '../transport/message-worker.ts';

type Thing = Record<string, unknown>;
type Things = DocumentCollection<Thing>;

const IDS = ['a', 'b', 'c'];

/** Made anew for each document: nothing is the same object. */
const VALUES: readonly (() => unknown)[] = [
  () => 1,
  () => null,
  () => undefined,
  () => -0,
  () => Number.NaN,
  () => [Number.NaN, undefined],
  () => 5n,
  () => new Date(7),
  () => new Date(Number.NaN),
  () => /a/g,
  () => new Map<unknown, unknown>([['k', new Date(7)]]),
  () => new Set([Number.NaN, { deep: [1n] }]),
  () => new Uint8Array([1, 2]),
  () => new Float64Array([Number.NaN]).buffer,
  () => ({ nested: { at: new Date(7), list: Object.assign(new Array(2), { 1: 1 }) } }),
];
const thing = fc
  .dictionary(fc.constantFrom('n', 'm'), fc.nat(VALUES.length - 1), { maxKeys: 2 })
  .map((fields) => () => {
    const made = Object.entries(fields).map(([name, value]) => [name, VALUES[value]?.()]);
    return Object.fromEntries(made) as Thing;
  });

const id = fc.constantFrom(...IDS);
type Step = (things: Things) => Promise<unknown>;
const step: fc.Arbitrary<readonly [string, Step]> = fc.oneof(
  fc
    .tuple(id, thing)
    .map(
      ([_id, make]) =>
        [`upsert ${_id}`, (things: Things) => things.upsert({ _id, ...make() })] as const,
    ),
  fc
    .tuple(id, thing)
    .map(([_id, make]) => [`patch ${_id}`, (things: Things) => things.patch(_id, make())] as const),
  id.map((_id) => [`modify ${_id}`, (things: Things) => things.modify(_id, (one) => one)] as const),
  id.map((_id) => [`delete ${_id}`, (things: Things) => things.delete(_id)] as const),
  fc.constant(['save', (things: Things) => things.save()] as const),
  fc.constant(['backup', (things: Things) => things.createBackup()] as const),
  fc.constant([
    'load',
    async (things: Things) => {
      const [last] = await things.listBackups();
      if (last) await things.loadBackup(last.name);
    },
  ] as const),
  id.map(
    (_id) =>
      [
        `restore ${_id}`,
        async (things: Things) => {
          const [last] = await things.listBackups();
          const isThere = last && (await things.at(last.name).get(_id));
          if (isThere) await things.restoreDocument(_id, last.name);
        },
      ] as const,
  ),
);

const VIEWS: readonly ((things: Things) => LiveQuery<unknown>)[] = [
  (things) => things.live({}),
  (things) => things.live({}, { sort: { n: -1 } }),
  (things) => things.live({}, { select: ['m'] }),
  (things) => things.live(() => true),
  (things) => things.live({}, { where: ({ n }) => n !== 1, select: ['n'], limit: 2 }),
  (things) => things.liveCount({ n: { $exists: true } }),
  (things) => things.liveDocument('a'),
];

const FRESH: readonly ((things: Things) => Promise<unknown>)[] = [
  (things) => things.filter({}),
  (things) => things.filter({}, { sort: { n: -1 } }),
  (things) => things.filter({}, { select: ['m'] }),
  (things) => things.filter({}),
  (things) => things.filter({}, { where: ({ n }) => n !== 1, select: ['n'], limit: 2 }),
  (things) => things.count({ n: { $exists: true } }),
  (things) => things.get('a'),
];

/** Whatever a query has told differs from what it told before, and the last is what there is. */
async function check(
  query: LiveQuery<unknown>,
  told: LiveSnapshot<unknown>[],
  fresh: unknown,
): Promise<void> {
  const isThere = () => isDeepStrictEqual(query.getSnapshot().data, fresh);
  for (let turns = 0; turns < 100 && !isThere(); turns++)
    await new Promise((resolve) => setTimeout(resolve));
  expect(query.getSnapshot().data).toStrictEqual(fresh);
  for (const [at, { status, data }] of told.entries()) {
    const before = told[at - 1];
    if (status !== 'ready' || before?.status !== 'ready') continue;
    expect(isDeepStrictEqual(data, before.data), `emission ${at} differs`).toBe(false);
  }
}

const clients: DatabaseClient[] = [];
afterAll(() => Promise.all(clients.map((client) => client.close())));

const doors: readonly (readonly [string, boolean, () => DatabaseClient])[] = [
  ['the thread, cached', true, () => new Database({ name: 'emissions 1', storage: 'memory' })],
  ['the thread', false, () => new Database({ name: 'emissions 2', storage: 'memory' })],
  [
    'a worker',
    false,
    () => connect({ name: 'emissions 3', storage: 'memory', worker: new MessageWorker().asWorker }),
  ],
];

describe.each(doors)('in %s', (_, caching, open) => {
  test.each([true, false])(
    'live queries emit when and only when their result differs, shared_documents: %s',
    async (shared_documents) => {
      const client = open();
      clients.push(client);
      let name = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
          const things = new client.Collection({
            ...({ name: `things ${++name}`, type: 'DOCUMENT_BASED', caching } as const),
            shared_documents,
          }) as unknown as Things;
          const queries = VIEWS.map((view) => view(things));
          const told = queries.map((query) => {
            const snapshots: LiveSnapshot<unknown>[] = [];
            query.subscribe((snapshot) => snapshots.push(snapshot));
            return snapshots;
          });
          await Promise.all(queries.map(({ ready }) => ready));
          for (const [, perform] of steps) await perform(things);
          for (const [at, query] of queries.entries())
            await check(query, told[at] as never, await FRESH[at]?.(things));
          if (!shared_documents) return;
          const [live] = queries as [LiveQuery<Thing[]>];
          const { data } = live.getSnapshot();
          for (const [at, document] of (await things.filter({})).entries())
            expect(data?.[at], 'readers and live queries share a document').toBe(document);
        }),
        runs(120),
      );
    },
  );
});

test('a value at a key with NaN in it is told once', async () => {
  const client = new Database({ name: 'emissions 4', storage: 'memory' });
  clients.push(client);
  const values = new client.Collection({ name: 'values', type: 'KEY_VALUE_BASED' });
  await values.set('list', [Number.NaN, new Date(1)]);
  const query = values.live('list');
  const told: unknown[] = [];
  query.subscribe(({ data }) => told.push(data));
  await query.ready;
  await values.set('list', [Number.NaN, new Date(1)]);
  await values.set('list', [1]);
  await expect.poll(() => told.at(-1)).toEqual([1]);
  expect(told).toHaveLength(2);
});

test.each([true, false])(
  'a Blob that is the same object is told once, another always: shared_documents %s',
  async (shared_documents) => {
    const client = new Database({ name: `emissions 5 ${shared_documents}`, storage: 'memory' });
    clients.push(client);
    const settings = { name: 'files', type: 'DOCUMENT_BASED', caching: true } as const;
    const files = new client.Collection({ ...settings, shared_documents }) as unknown as Things;
    const file = new Blob(['a']);
    // The second time it is updated, which is a change.
    for (let times = 0; times < 2; times++) await files.upsert({ _id: 'a', file });
    const query = files.live({});
    const told: LiveSnapshot<readonly Thing[]>[] = [];
    query.subscribe((snapshot) => told.push(snapshot));
    await query.ready;
    await files.upsert({ _id: 'a', file });
    await files.upsert({ _id: 'a', file: new Blob(['b']) });
    await expect.poll(() => told.length).toBe(2);
    const texts = told.map(({ data }) => (data as { file: Blob }[])[0]?.file.text());
    expect(await texts[1]).toBe('b');
    // Their content cannot be compared without a wait.
    await files.upsert({ _id: 'a', file: new Blob(['b']) });
    await expect.poll(() => told.length).toBe(3);
  },
);
