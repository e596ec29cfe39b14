import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileCriteria } from '../../src/query/criteria/compile-criteria.ts';
import { compileSelect } from '../../src/query/projection.ts';
import { compileSort } from '../../src/query/sort/compile-sort.ts';
import { equalValues } from '../../src/query/value/compare-values.ts';
import { testDatabase } from '../../src/testing/index.ts';
import {
  type AnyCollection,
  NAMES,
  type Name,
  type Relation,
  relatedCollections,
  type Schema,
} from './related-collections.ts';

/** A document as the oracle keeps it: as the collection returns it, in insertion order. */
type Document = Record<string, unknown> & { _id: string; _archived: boolean };

interface Include {
  where?: object;
  sort?: Record<string, 1 | -1>;
  skip?: number;
  limit?: number;
  select?: readonly string[];
  archived?: boolean | 'only';
  include?: Record<string, Include>;
}

const IDS = ['1', '2', '3', '4', '5'];
const PATHS = ['_id', 'x', 'y', 'list', 'o.p'];

const scalar = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom<unknown>(...IDS) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(1, 2, 1n, null, new Date(1)) },
);
const fields = fc.record(
  {
    x: scalar,
    y: scalar,
    list: fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })),
    o: fc.oneof(fc.record({ p: scalar }), fc.array(fc.record({ p: scalar }), { maxLength: 2 })),
    n: fc.integer({ min: 0, max: 3 }),
  },
  { requiredKeys: ['x', 'n'] },
);

const ends = fc.oneof(
  fc.constantFrom(['x', '_id'], ['_id', 'x'], ['list', '_id'], ['_id', 'list'], ['x', 'x']),
  fc.tuple(fc.constantFrom(...PATHS), fc.constantFrom(...PATHS)),
);
const relation: fc.Arbitrary<Relation> = fc
  .record({ partner: fc.constantFrom(...NAMES), isOne: fc.boolean(), ends })
  .map(({ ends: [from, to], ...rest }) => ({ ...rest, from: from as string, to: to as string }));
const relations = fc.record({ r: relation, s: relation });
const schema: fc.Arbitrary<Schema> = fc.record({ a: relations, b: relations, c: relations });

const plain = fc.constantFrom<object>({}, {}, {}, { n: { $gte: 1 } }, { n: { $ne: 0 } });
const criteria = (depth: number): fc.Arbitrary<object> => {
  if (depth === 0) return plain;
  const inner = criteria(depth - 1);
  const condition = fc
    .tuple(fc.constantFrom('r', 's'), fc.constantFrom('$some', '$none', '$every'), inner)
    .map(([name, kind, own]) => ({ [name]: { [kind]: own } }));
  return fc.oneof(
    { weight: 4, arbitrary: plain },
    condition,
    fc.tuple(plain, condition).map(([one, other]) => ({ ...one, ...other })),
    fc.tuple(condition, plain).map(([one, other]) => ({ $or: [one, other] })),
    fc.tuple(condition, plain).map(([one, other]) => ({ $nor: [one, { $and: [other, one] }] })),
  );
};
const include = (depth: number): fc.Arbitrary<Include> =>
  fc.record(
    {
      where: criteria(1),
      sort: fc.constantFrom<Record<string, 1 | -1>>({ n: 1 }, { n: -1, x: 1 }),
      skip: fc.integer({ min: 0, max: 1 }),
      limit: fc.integer({ min: 1, max: 3 }),
      select: fc.constant(['n']),
      archived: fc.constantFrom<boolean | 'only'>(true, false, true, 'only'),
      ...(depth > 0 && { include: includes(depth - 1) }),
    },
    { requiredKeys: [] },
  );
const includes = (depth: number): fc.Arbitrary<Record<string, Include>> =>
  fc.record({ r: include(depth), s: include(depth) }, { requiredKeys: ['r'] });

type Change =
  | { kind: 'put' | 'patch' | 'insertMany'; name: Name; id: string; fields: object }
  | { kind: 'delete' | 'archive' | 'unarchive'; name: Name; id: string }
  | { kind: 'together'; changes: Change[] };

const target = { name: fc.constantFrom(...NAMES), id: fc.constantFrom(...IDS) };
const put = fc.record({
  kind: fc.constantFrom('put' as const, 'patch' as const, 'insertMany' as const),
  ...target,
  fields,
});
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 3, arbitrary: put },
  fc.record({
    kind: fc.constantFrom('delete' as const, 'archive' as const, 'unarchive' as const),
    ...target,
  }),
);
const changes = fc.oneof(
  change,
  fc
    .array(change, { minLength: 2, maxLength: 4 })
    .map((list): Change => ({ kind: 'together', changes: list })),
);

/** Joins by loops, over everything. */
class Oracle {
  readonly #schema: Schema;
  readonly #documents: Record<Name, readonly Document[]>;

  constructor(schema: Schema, documents: Record<Name, readonly Document[]>) {
    this.#schema = schema;
    this.#documents = documents;
  }

  matches(name: Name, document: Document, asked: object): boolean {
    return Object.entries(asked).every(([key, value]) => {
      const list = value as object[];
      if (key === '$or') return list.some((one) => this.matches(name, document, one));
      if (key === '$and') return list.every((one) => this.matches(name, document, one));
      if (key === '$nor') return !list.some((one) => this.matches(name, document, one));
      const own = this.#schema[name][key];
      if (!own) return compileCriteria({ [key]: value }).test(document);
      const partners = this.#partners(own, document).filter(({ _archived }) => !_archived);
      return Object.entries(value as Record<string, object>).every(([kind, inner]) => {
        const test = (one: Document) => this.matches(own.partner, one, inner);
        if (kind === '$some') return partners.some(test);
        return kind === '$none' ? !partners.some(test) : partners.every(test);
      });
    });
  }

  find(name: Name, list: readonly Document[], asked: Include): Document[] {
    const { where = {}, sort, skip = 0, limit = 99, archived = false } = asked;
    const found = list.filter(
      (one) =>
        (archived === true || one._archived === (archived === 'only')) &&
        this.matches(name, one, where),
    );
    if (sort) {
      const order = compileSort(sort);
      found.sort((a, b) => order.compare(order.keyOf(a), order.keyOf(b)));
    }
    return found
      .slice(skip, skip + limit)
      .map((one) => this.#shown(name, one, asked.select, asked.include));
  }

  #shown(
    name: Name,
    document: Document,
    select: readonly string[] | undefined,
    asked: Include['include'],
  ) {
    const shown = { ...(select ? compileSelect(select)(document) : document) } as Document;
    for (const [key, options] of Object.entries(asked ?? {})) {
      const own = this.#schema[name][key] as Relation;
      const { skip: _, limit: __, ...one } = options;
      const found = this.find(
        own.partner,
        this.#partners(own, document),
        own.isOne ? one : options,
      );
      shown[key] = own.isOne ? (found[0] ?? null) : found;
    }
    return shown;
  }

  #partners({ partner, from, to }: Relation, document: Document): Document[] {
    const values = valuesAt(document, from);
    return this.#documents[partner].filter((one) =>
      valuesAt(one, to).some((value) => values.some((own) => equalValues(own, value))),
    );
  }
}

function valuesAt(document: Document, path: string): unknown[] {
  let values: unknown[] = [document];
  for (const key of path.split('.'))
    values = values.flatMap((value) =>
      [value].flat().flatMap((one) => (one as Record<string, unknown> | undefined)?.[key]),
    );
  return values.filter((value) => value !== undefined && value !== null);
}

/** `skip` and `limit` are for many. */
function optionsFor(
  schema: Schema,
  name: Name,
  asked: Record<string, Include> | undefined,
): object {
  return Object.fromEntries(
    Object.entries(asked ?? {}).map(([key, { skip, limit, include: inner, ...rest }]) => {
      const { isOne, partner } = schema[name][key] as Relation;
      const own = { ...rest, include: optionsFor(schema, partner, inner) };
      return [key, isOne ? own : { ...own, skip: skip ?? 0, limit: limit ?? 99 }];
    }),
  );
}

const caching = fc.boolean();
const indexes = fc.subarray(['x', 'y', 'o.p']);

test('live and fresh results are those of nested loops, after each change', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        schema,
        caching,
        indexes,
        query: fc.record({
          params: criteria(2),
          options: fc.record(
            {
              sort: fc.constantFrom<Record<string, 1 | -1>>({ n: 1 }, { x: -1 }),
              skip: fc.integer({ min: 0, max: 1 }),
              limit: fc.integer({ min: 1, max: 4 }),
              select: fc.constant(['n', 'x']),
              archived: fc.boolean(),
              include: includes(1),
            },
            { requiredKeys: ['include'] },
          ),
        }),
        first: fc.array(fields, { minLength: 12, maxLength: 12 }),
        later: fc.array(changes, { minLength: 1, maxLength: 8 }),
      }),
      async ({ schema, caching, indexes, query, first, later }) => {
        const db = await testDatabase({ auto_close: false });
        const made = relatedCollections(db, schema, { caching, indexes });
        const apply = async (one: Change): Promise<void> => {
          if (one.kind === 'together')
            await db.transaction(async (tx) => {
              for (const each of one.changes)
                if (each.kind !== 'together') await applyTo(tx(made[each.name]) as never, each);
            });
          else await applyTo(made[one.name], one);
        };
        const params = query.params as never;
        const { include: included, ...rest } = query.options;
        const options = { ...rest, include: optionsFor(schema, 'a', included) } as never;
        for (const [at, own] of first.entries())
          await made[NAMES[at % 3] as Name].insert({ _id: IDS[at % 5] as string, ...own });
        await db.save();
        const live = made.a.live(params, options);
        const count = made.a.liveCount(params, { archived: rest.archived } as never);
        const stops = [live.subscribe(() => undefined), count.subscribe(() => undefined)];
        await Promise.all([live.ready, count.ready]);
        for (const one of [undefined, ...later]) {
          if (one) await apply(one);
          const documents = {} as Record<Name, Document[]>;
          for (const name of NAMES)
            documents[name] = (await made[name].filter({}, { archived: true })) as never;
          const oracle = new Oracle(schema, documents);
          const asked = { ...query.options, where: query.params };
          const expected = oracle.find('a', documents.a, asked);
          const shown = live.getSnapshot();
          expect(await made.a.filter(params, options)).toEqual(expected);
          expect(shown.error).toBeUndefined();
          expect(shown.data).toEqual(expected);
          const all = oracle.find('a', documents.a, { where: query.params, ...pick(rest) });
          expect(count.getSnapshot().data).toBe(all.length);
          expect(await made.a.count(params, pick(rest) as never)).toBe(all.length);
        }
        for (const stop of stops) stop();
        await db.close();
      },
    ),
    { numRuns: 150 },
  );
}, 240_000);

function pick({ archived }: { archived?: boolean }): { archived?: boolean } {
  return archived === undefined ? {} : { archived };
}

async function applyTo(
  collection: AnyCollection,
  one: Exclude<Change, { kind: 'together' }>,
): Promise<void> {
  if (one.kind === 'put') await collection.upsert({ _id: one.id, ...one.fields });
  else if (one.kind === 'patch') await collection.patch(one.id, one.fields as never);
  else if (one.kind === 'insertMany') await collection.insertMany([{ ...one.fields }, {}]);
  else await collection[one.kind](one.id);
}
