import {
  and,
  BTreeIndex,
  type Collection,
  createCollection,
  createLiveQueryCollection,
  eq,
  gt,
  gte,
  inArray,
  isNull,
  isUndefined,
  like,
  localOnlyCollectionOptions,
  lt,
  not,
  or,
} from '@tanstack/db';
import { expect, test } from 'vitest';
import { Database } from '../../src/index.ts';
import { cairnCollectionOptions } from '../../src/tanstack/index.ts';
import { fc, runs } from '../setup/properties.ts';

interface Thing {
  _id: string;
  rank: number | null;
  name?: string | null;
  open?: boolean;
}
const FIELDS = ['rank', 'name', 'open'] as const;

const rank = fc.option(fc.integer({ min: 0, max: 4 }));
const name = fc.constantFrom('Ada', 'ada', 'Äda', 'bo', 'Bo', '%', 'a.b', '');
const thing = fc.record(
  { rank, name: fc.option(name), open: fc.boolean() },
  { requiredKeys: ['rank'] },
);
const value = fc.oneof(rank, name, fc.boolean(), fc.constant(undefined));

type Where = (row: never) => never;
const { where } = fc.letrec<{ where: Where }>((tie) => {
  const field = fc.constantFrom(...FIELDS);
  const compared = fc
    .tuple(fc.constantFrom(eq, gt, gte, lt), field, value, fc.boolean())
    .map(([compare, path, than, mirrored]) => (row: never) => {
      // Others compare values of two kinds as JavaScript does, Cairn not at all.
      const operand = than === null || typeof than === KINDS[path] ? than : undefined;
      return mirrored ? compare(operand as never, row[path]) : compare(row[path], operand as never);
    });
  const other = fc.oneof(
    field.map((path) => (row: never) => isNull(row[path])),
    field.map((path) => (row: never) => isUndefined(row[path])),
    fc.array(rank).map((list) => (row: never) => inArray(row[FIELDS[0]], list)),
    fc
      .constantFrom('A%', 'a_a', 'Ad\\%', '%a', '')
      .map((pattern) => (row: never) => like(row[FIELDS[1]], pattern)),
  );
  const several = fc.tuple(fc.constantFrom(and, or), tie('where'), tie('where')).map(
    ([join, one, two]) =>
      (row: never) =>
        join(one(row), two(row)),
  );
  const negated = tie('where').map((one) => (row: never) => not(one(row)));
  return {
    where: fc.oneof({ maxDepth: 3 }, compared, other, several, negated) as fc.Arbitrary<Where>,
  };
});
const KINDS = { rank: 'number', name: 'string', open: 'boolean' };

const order = fc.record({
  path: fc.constantFrom('rank', 'name', '_id'),
  direction: fc.constantFrom('asc', 'desc'),
  nulls: fc.constantFrom('first', 'last'),
  stringSort: fc.constantFrom('lexical', 'locale'),
});
const query = fc.record({
  where: fc.option(where),
  order: fc.option(order),
  limit: fc.option(fc.integer({ min: 1, max: 4 })),
  offset: fc.nat(3),
});
type Query = typeof query extends fc.Arbitrary<infer Q> ? Q : never;

const change = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), id: fc.nat(12), thing }),
  fc.record({ kind: fc.constant('delete' as const), id: fc.nat(12) }),
);

/** What a live query of TanStack DB shows of a collection. */
function open(source: Collection<Thing, string>, { where, order, limit, offset }: Query) {
  return createLiveQueryCollection({
    startSync: true,
    gcTime: 0,
    query: (q) => {
      let built = q.from({ row: source }) as never as {
        where(condition: unknown): typeof built;
        orderBy(by: unknown, options?: unknown): typeof built;
        limit(limit: number): typeof built;
        offset(offset: number): typeof built;
      };
      const asked = ({ row }: { row: never }) => (where as Where)(row);
      if (where) built = built.where(asked);
      if (order) {
        const { path, ...options } = order;
        built = built.orderBy(({ row }: { row: never }) => row[path as never], options);
        built = built.orderBy(({ row }: { row: never }) => row['_id' as never], 'asc');
        if (limit !== null) built = built.limit(limit).offset(offset);
      }
      return built as never;
    },
  });
}

const shown = (collection: { toArray: readonly unknown[] }, isOrdered: boolean) => {
  const rows = (collection.toArray as Thing[]).map((row) => [
    row._id,
    ...FIELDS.map((f) => row[f]),
  ]);
  return isOrdered ? rows : rows.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
};

let made = 0;

/** A query over documents shows what it shows over the same rows in memory. */
async function compare(
  things: readonly object[],
  queries: readonly Query[],
  changes: readonly (typeof change extends fc.Arbitrary<infer C> ? C : never)[],
  syncMode: 'eager' | 'on-demand',
): Promise<void> {
  const db = new Database({ name: `tanstack ${made++}`, storage: 'memory' });
  const documents = new db.Collection<Thing>({ name: 'things', type: 'DOCUMENT_BASED' });
  const rows = things.map((one, index) => ({ ...one, _id: `${index}` }) as Thing);
  await documents.insertMany(rows);
  const indexed = { autoIndex: 'eager' as const, defaultIndexType: BTreeIndex };
  const ours = createCollection(
    cairnCollectionOptions({ collection: documents, syncMode, ...indexed }),
  ) as never as Collection<Thing, string>;
  const naive = createCollection(
    localOnlyCollectionOptions({
      getKey: (row: Thing) => row._id,
      initialData: rows,
      ...indexed,
    }),
  ) as never as Collection<Thing, string>;
  const opened = queries.map((one) => [one, open(ours, one), open(naive, one)] as const);
  const agree = async () => {
    for (const [{ order }, one, other] of opened) {
      await one.preload();
      await expect
        .poll(() => shown(one, order !== null), { interval: 1 })
        .toEqual(shown(other, order !== null));
    }
  };
  await agree();
  for (const one of changes) {
    const _id = `${one.id}`;
    if (one.kind === 'put') {
      await documents.upsert({ ...one.thing, _id });
      if (naive.has(_id)) naive.delete(_id);
      naive.insert({ ...one.thing, _id });
    } else {
      await documents.delete(_id);
      if (naive.has(_id)) naive.delete(_id);
    }
    await agree();
  }
  for (const [, one, other] of opened) await Promise.all([one.cleanup(), other.cleanup()]);
  await ours.cleanup();
  await db.close();
}

test.each(['eager', 'on-demand'] as const)(
  'queries with syncMode %s show what they show of the same rows in memory, also after changes',
  async (syncMode) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(thing, { maxLength: 10 }),
        fc.array(query, { minLength: 1, maxLength: 3 }),
        fc.array(change, { maxLength: 5 }),
        (things, queries, changes) => compare(things, queries, changes, syncMode),
      ),
      { ...runs(200), endOnFailure: true },
    );
  },
);
