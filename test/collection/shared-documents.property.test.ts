import { afterAll, describe, expect, test } from 'vitest';
import {
  connect,
  Database,
  type DatabaseClient,
  type DocumentCollection,
} from '../../src/index.ts';
import { fc, runs } from '../setup/properties.ts';
import { MessageWorker } from '../transport/message-worker.ts';

interface Thing {
  n: number;
  group?: string | number | null;
  list?: { deep: boolean }[];
  at?: Date;
}

type Things = DocumentCollection<Thing>;
type Sort = Record<string, 1 | -1>;

const IDS = ['a', 'b', 'c', 'd', 'e', 'f'];

const thing = fc.record(
  {
    n: fc.integer({ min: 0, max: 3 }),
    group: fc.oneof(fc.constantFrom('x', 'y', null), fc.integer({ min: 0, max: 2 })),
    list: fc.array(fc.record({ deep: fc.boolean() }), { maxLength: 2 }),
    at: fc.constant(new Date(7)),
  },
  { requiredKeys: ['n'] },
);

const operand = fc.oneof(
  fc.integer({ min: -1, max: 4 }),
  fc.constantFrom('x', 'y', true, Number.NaN),
);
const comparison = fc.oneof(
  operand,
  fc.dictionary(fc.constantFrom('$eq', '$gt', '$gte', '$lt', '$lte'), operand, { minKeys: 1 }),
);
const criteria = fc.dictionary(
  fc.constantFrom('n', 'group', 'list.deep', '_archived'),
  comparison,
  {
    maxKeys: 2,
  },
);
const options = fc.record(
  {
    sort: fc.constantFrom<Sort>({ n: 1 }, { n: -1 }, { group: 1 }, { group: -1, n: 1 }),
    skip: fc.integer({ min: 0, max: 3 }),
    limit: fc.integer({ min: 0, max: 4 }),
  },
  { requiredKeys: [] },
);

const id = fc.constantFrom(...IDS);
const step = fc.oneof(
  fc.record({ op: fc.constant('upsert' as const), id, thing }),
  fc.record({ op: fc.constant('patch' as const), id, thing }),
  fc.record({ op: fc.constantFrom('archive' as const, 'unarchive', 'delete'), id }),
  fc.record({ op: fc.constant('save' as const) }),
  fc.record({ op: fc.constant('ask' as const), criteria, options }),
  fc.record({ op: fc.constant('ask' as const), criteria, options }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** What was read by id since it was written. */
type Seen = Map<string, object>;

function isDeeplyFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || value instanceof Date) return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen);
}

/** Compares a read of each, and checks that a document that nobody wrote is the same object. */
function compare(shared: unknown, copied: unknown, seen: Seen): void {
  expect(shared).toEqual(copied);
  for (const document of [shared].flat()) {
    if (document === undefined) continue;
    expect(isDeeplyFrozen(document)).toBe(true);
    const { _id } = document as { _id: string };
    expect((seen.get(_id) ?? document) === document).toBe(true);
    seen.set(_id, document as object);
  }
}

async function take(shared: Things, copies: Things, given: Step, seen: Seen): Promise<void> {
  // Written, a document may be another object, though it equals the one before.
  if ('id' in given) seen.delete(given.id as string);
  switch (given.op) {
    case 'upsert':
      await shared.upsert({ _id: given.id, ...given.thing });
      break;
    case 'patch':
      await shared.patch(given.id, given.thing);
      break;
    case 'save':
      await shared.save();
      break;
    case 'ask': {
      const { criteria: params, options: more } = given as { criteria: object; options: object };
      compare(await shared.filter(params, more), await copies.filter(params, more), seen);
      compare(await shared.find(params, more), await copies.find(params, more), seen);
      const count = await copies.count(params, more);
      expect(await shared.count(params, more)).toBe(count);
      if (!hasSync(shared)) return;
      // Twice: the second query of a shape is prepared.
      for (let time = 0; time < 2; time++) {
        compare(shared.sync.filter(params, more), copies.sync.filter(params, more), seen);
        expect(shared.sync.count(params, more)).toBe(count);
        expect(copies.sync.filter(params, more)).toEqual(await copies.filter(params, more));
      }
      return;
    }
    default:
      await shared[given.op](given.id);
  }
  compare(await shared.getMany(IDS), await copies.getMany(IDS), seen);
  compare(await shared.get('a'), await copies.get('a'), seen);
  if (hasSync(shared)) compare(shared.sync.getMany(IDS), copies.sync.getMany(IDS), seen);
}

function hasSync(things: Things): boolean {
  try {
    return Boolean(things.sync);
  } catch {
    return false;
  }
}

const clients: DatabaseClient[] = [];
afterAll(() => Promise.all(clients.map((client) => client.close())));

const doors: readonly (readonly [string, boolean, () => DatabaseClient])[] = [
  ['the thread, cached', true, () => new Database({ name: 'shared cached', storage: 'memory' })],
  ['the thread', false, () => new Database({ name: 'shared uncached', storage: 'memory' })],
  [
    'a worker',
    false,
    () =>
      connect({ name: 'shared worker', storage: 'memory', worker: new MessageWorker().asWorker }),
  ],
];

describe.each(doors)('in %s', (_, caching, open) => {
  test('shared documents equal copies, and are the same objects until they change', async () => {
    const client = open();
    clients.push(client);
    let name = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const common = {
          ...({ name: `things ${++name}`, type: 'DOCUMENT_BASED', caching } as const),
          indexes: ['n', 'group'],
        };
        const shared = new client.Collection<Thing>({ ...common, shared_documents: true });
        const copies = new client.Collection<Thing>(common);
        await Promise.all([shared.ready, copies.ready]);
        const seen: Seen = new Map();
        for (const given of steps)
          await take(shared as unknown as Things, copies as Things, given as Step, seen);
      }),
      runs(60),
    );
  });
});
