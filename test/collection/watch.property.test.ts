import { afterAll, describe, expect, test } from 'vitest';
import {
  connect,
  Database,
  type DatabaseClient,
  type DocumentCollection,
  memoryDriver,
} from '../../src/index.ts';
import { fc, runs } from '../setup/properties.ts';
import { MessageWorker } from '../transport/message-worker.ts';

interface Thing {
  n: number;
  m: number;
}
type Things = DocumentCollection<Thing>;
type Step = (things: Things) => Promise<unknown>;

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const number = fc.nat(4);
const fields = fc.record({ n: number, m: number });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(id, fields).map(
    ([_id, of]) =>
      (things: Things) =>
        things.upsert({ _id, ...of }),
  ),
  fc.tuple(id, number).map(
    ([_id, n]) =>
      (things: Things) =>
        things.patch(_id, { n }),
  ),
  fc.tuple(id, number).map(
    ([_id, m]) =>
      (things: Things) =>
        things.patch(_id, { m }),
  ),
  id.map((_id) => (things: Things) => things.delete(_id)),
  id.map((_id) => (things: Things) => things.archive(_id)),
  id.map((_id) => (things: Things) => things.unarchive(_id)),
  number.map((n) => (things: Things) => things.patchMany({ n }, { $inc: { n: 1 } })),
  number.map((n) => (things: Things) => things.deleteMany({ n })),
);

const VIEWS: readonly (readonly [params: object, options: object])[] = [
  [{}, {}],
  [{ n: { $gt: 1 } }, { sort: { n: -1, m: 1 }, limit: 2 }],
  [{}, { sort: { m: 1 }, skip: 1, limit: 2, select: ['n'] }],
  [({ n }: Thing) => n !== 2, { where: ({ m }: Thing) => m < 4, limit: 3 }],
  [{}, { archived: 'only' }],
];

/** Holds what has entered and not left, and checks each call against it. */
function replay(things: Things, params: object, options: { readonly limit?: number }) {
  const held = new Map<string, object>();
  const expectHeld = (before: { readonly _id: string }) =>
    expect(held.get(before._id), `${before._id} is held`).toBe(before);
  let isBegun = false;
  const stop = things.watch(
    params,
    {
      enter: (document, isInitial) => {
        expect(held.has(document._id), `${document._id} is new`).toBe(false);
        if (isBegun) expect(isInitial).toBe(false);
        held.set(document._id, document);
        expect(held.size).toBeLessThanOrEqual(options.limit ?? Number.POSITIVE_INFINITY);
      },
      update: (document, before) => {
        expectHeld(before);
        expect(document).not.toStrictEqual(before);
        expect(document._id).toBe(before._id);
        held.set(document._id, document);
      },
      exit: (document) => {
        expectHeld(document);
        held.delete(document._id);
      },
      error: (error) => {
        throw error;
      },
    },
    options,
  );
  return {
    held,
    stop,
    begin: () => {
      isBegun = true;
    },
  };
}

const clients: DatabaseClient[] = [];
afterAll(() => Promise.all(clients.map((client) => client.close())));

function opened(...made: DatabaseClient[]): DatabaseClient[] {
  clients.push(...made);
  return made;
}

/** One that writes, and one that watches. */
const doors: readonly (readonly [string, () => DatabaseClient[]])[] = [
  [
    'the thread',
    () => {
      const one = new Database({ name: 'watch 1', storage: 'memory' });
      return opened(one, one);
    },
  ],
  [
    'another client of the thread',
    () => {
      const storage = memoryDriver();
      return opened(
        new Database({ name: 'watch 2', storage }),
        new Database({ name: 'watch 2', storage }),
      );
    },
  ],
  [
    'a worker',
    () => {
      const worker = new MessageWorker().asWorker;
      const one = connect({ name: 'watch 3', storage: 'memory', worker });
      return opened(one, one);
    },
  ],
];

describe.each(doors)('in %s', (_, open) => {
  test('what entered and has not left is the result', async () => {
    const [writer, reader] = open() as [DatabaseClient, DatabaseClient];
    let runsSoFar = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 6 }),
        fc.array(step, { minLength: 1, maxLength: 12 }),
        async (first, steps) => {
          const options = { name: `things ${++runsSoFar}`, type: 'DOCUMENT_BASED' } as const;
          const [theirs, things] = [writer, reader].map(
            (client) => new client.Collection<Thing>(options) as unknown as Things,
          ) as [Things, Things];
          for (const perform of first) await perform(theirs);
          const watched = VIEWS.map(([params, given]) => replay(things, params, given));
          const settle = async () => {
            for (const [at, [params, given]] of VIEWS.entries()) {
              const result = await theirs.filter(params as never, given);
              const expected = new Map(result.map((document) => [document._id, document]));
              await expect.poll(() => watched[at]?.held, { interval: 1 }).toStrictEqual(expected);
            }
          };
          await settle();
          for (const { begin } of watched) begin();
          for (const perform of steps) await perform(theirs);
          await settle();
          for (const { stop } of watched) stop();
        },
      ),
      runs(40),
    );
  });
});

describe('what a handler throws', () => {
  const uncaught = async (begin: (things: Things) => void) => {
    const [db] = opened(new Database({ name: 'watch 4', storage: 'memory' }));
    const things = new (db as Database).Collection<Thing>({
      name: 'things',
      type: 'DOCUMENT_BASED',
      activate_drop_method: true,
    });
    await things.insertMany([
      { n: 1, m: 1 },
      { n: 2, m: 2 },
    ]);
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    const error = new Promise<unknown>((resolve) => process.once('uncaughtException', resolve));
    try {
      begin(things as unknown as Things);
      return await error;
    } finally {
      for (const listener of others) process.on('uncaughtException', listener);
    }
  };

  test('is uncaught, and the other handlers run', async () => {
    const entered: number[] = [];
    const error = await uncaught((things) =>
      things.watch(
        {},
        {
          enter: ({ n }) => {
            entered.push(n);
            if (n === 1) throw new Error('from the handler');
          },
        },
      ),
    );
    expect(error).toMatchObject({ message: 'from the handler' });
    expect(entered).toEqual([1, 2]);
  });

  test('the error of the query is uncaught where there is no handler', async () => {
    const error = await uncaught((things) => {
      things.watch({}, { enter: () => void things.Drop().catch(() => undefined) });
    });
    expect(error).toMatchObject({ code: 'collection_dropped' });
  });
});
