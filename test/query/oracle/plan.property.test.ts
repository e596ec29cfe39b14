import { describe, expect, test } from 'vitest';
import { compileSort } from '../../../src/query/sort/compile-sort.ts';
import { fc, runs } from '../../setup/properties.ts';
import * as arbitrary from './arbitrary-criteria.ts';
import { definition, type Fields, IndexedWorld, type Query } from './indexed-world.ts';
import '../../setup/rare-operators.ts';

const scalar = fc.constantFrom<unknown[]>(
  ...[null, undefined, 0, -0, 1, 2, 2n, 5, -3, 1.5, Number.NaN, 10n ** 20n],
  ...[Number.POSITIVE_INFINITY, '', 'a', 'ab', 'abc', 'abd', 'b', '\uffff', '\uffffa', 'a.b'],
  ...[true, false, new Date(0), new Date(5), new Date(Number.NaN)],
  ...['A', 'AB', 'á', 'a\u0301', 'ä', '10', '2', 'a b', 'a-b'],
);
const oddity = fc.oneof(
  fc.constantFrom<unknown[]>(/^a/, new Map([['a', 1]]), new Set([1]), new Uint8Array(2)),
  arbitrary.value,
  fc.array(scalar, { maxLength: 3 }),
);
const value = fc.oneof({ arbitrary: scalar, weight: 9 }, { arbitrary: oddity, weight: 1 });
const tidy = fc.dictionary(
  fc.constantFrom('a', 'b', 'c'),
  fc.oneof(scalar, fc.record({ a: scalar, b: scalar }, { requiredKeys: [] })),
);
const messy = fc.dictionary(
  fc.constantFrom('a', 'b', 'c', '0'),
  fc.oneof(value, fc.array(fc.dictionary(fc.constantFrom('a', 'b'), value), { maxLength: 2 })),
);
const flat = fc.dictionary(fc.constantFrom('a', 'b', 'c'), scalar);

const path = fc.constantFrom('a', 'b', 'c', 'a.a', 'a.b', 'c.a', 'a.0', '0');
const collation = fc.constantFrom<(string | undefined)[]>(
  undefined,
  undefined,
  'sv 2',
  'de 1 numeric',
);
const constant = fc.constantFrom<unknown[]>(null, 0, 1, 2, 5, '', 'a', 'A', 'ab', 'b', true);
const part: fc.Arbitrary<Fields> = fc.dictionary(
  path,
  fc.oneof(
    constant,
    fc
      .tuple(fc.constantFrom('$eq', '$gt', '$gte', '$lt', '$lte'), constant)
      .map(([name, operand]) => ({ [name]: operand })),
    fc.array(constant, { maxLength: 3 }).map(($in) => ({ $in })),
  ),
  { minKeys: 1, maxKeys: 2, noNullPrototype: true },
);
const index = fc
  .tuple(
    fc.oneof(
      path.map((field) => [field]),
      fc.uniqueArray(path, { minLength: 2, maxLength: 3 }),
    ),
    fc.boolean(),
    collation,
    fc.oneof(fc.constant(undefined), fc.constant(undefined), part),
  )
  .map(([fields, multi, order, where]) =>
    definition(fields, multi && fields.length === 1, order, where),
  );
const pattern = fc.constantFrom(
  /^a/,
  /^ab/,
  /^ab*/,
  /^abc?d/,
  /^a\.b/,
  /^a|b/,
  /^A/i,
  /^\uffff/,
  /^a$/,
);
const literal = fc.oneof(
  { arbitrary: scalar, weight: 8 },
  { arbitrary: fc.constantFrom<unknown[]>([], [1], {}), weight: 1 },
);
const item = fc.oneof({ arbitrary: literal, weight: 5 }, { arbitrary: pattern, weight: 1 });
const items = fc.array(item, { maxLength: 4 });
const operators = fc.oneof(
  ...['$eq', '$gt', '$gte', '$lt', '$lte', '$ne'].map((name) =>
    literal.map((operand) => ({ [name]: operand })),
  ),
  fc.tuple(scalar, scalar).map(([$gte, $lt]) => ({ $gte, $lt })),
  fc.tuple(scalar, scalar).map(([$gt, $lte]) => ({ $gt, $lte })),
  fc.tuple(items, scalar).map(([$in, $gt]) => ({ $in, $gt })),
  items.map(($in) => ({ $in })),
  items.map(($nin) => ({ $nin })),
  items.map(($all) => ({ $all })),
  fc.constantFrom<Fields[]>(
    ...[{ $exists: false }, { $exists: true }, { $type: 'number' }, { $not: { $gt: 1 } }],
    ...[{ $regex: '^ab' }, { $regex: '^A', $options: 'i' }, { $regex: /^a/ }, { $size: 1 }],
    ...[{ $elemMatch: { $gte: 1, $lt: 5 } }, { $not: /^a/ }, { $mod: [2, 0] }],
  ),
);
const fields = fc.dictionary(path, fc.oneof(literal, pattern, operators), {
  maxKeys: 3,
  noNullPrototype: true,
});
const criteria = fc.letrec<{ criteria: Fields }>((tie) => ({
  criteria: fc.oneof(
    { maxDepth: 2 },
    { arbitrary: fields, weight: 6 },
    fc
      .tuple(fields, fc.array(tie('criteria'), { minLength: 1, maxLength: 3 }))
      .map(([own, $or]) => ({ ...own, $or })),
    fc.array(tie('criteria'), { minLength: 1, maxLength: 3 }).map(($and) => ({ $and })),
    fc.tuple(fields, tie('criteria')).map(([own, other]) => ({ ...own, $nor: [other] })),
    fc.constantFrom<Fields[]>(
      { _id: 'id1' },
      { _id: { $in: ['id2', 'id3', 'id2', 7] } },
      { _id: { $gt: 'id2' } },
      { _id: 5 },
    ),
  ),
})).criteria;
const sort = fc
  .uniqueArray(fc.tuple(path, fc.constantFrom(1, -1)), {
    minLength: 1,
    maxLength: 3,
    selector: ([field]) => field,
  })
  .map((parts): Fields => Object.fromEntries(parts));
const query: fc.Arbitrary<Query> = fc.record({
  criteria,
  sort: fc.option(sort, { nil: undefined }),
  skip: fc.nat(2),
  limit: fc.option(fc.nat(6), { nil: undefined }),
  collation,
});

type Step = (world: IndexedWorld) => void;

function stepsOver(document: fc.Arbitrary<Fields>): fc.Arbitrary<Step> {
  const id = fc.integer({ min: 1, max: 14 }).map((number) => `id${number}`);
  return fc.oneof(
    {
      arbitrary: query.map(
        (asked): Step =>
          (world) =>
            check(world, asked),
      ),
      weight: 5,
    },
    document.map(
      (fields): Step =>
        (world) =>
          world.insert(fields),
    ),
    fc.tuple(id, document).map(
      ([which, fields]): Step =>
        (world) =>
          world.update(which, fields),
    ),
    id.map(
      (which): Step =>
        (world) =>
          world.update(which, { ...world.entries.get(which)?.document }),
    ),
    id.map(
      (which): Step =>
        (world) =>
          world.delete(which),
    ),
    fc.constant<Step>((world) => {
      for (const index of world.indexes.values()) index.sorting().next();
    }),
  );
}

function check(world: IndexedWorld, asked: Query): void {
  const plan = world.plan(asked);
  const expected = world.byScan(asked);
  expect(world.byPlan(asked, structuredClone(plan)), fc.stringify([asked, plan])).toEqual(expected);
  const found = world.candidates(plan, asked).map(({ rank }) => rank);
  expect(new Set(found).size).toBe(found.length);
  if (plan.kind === 'index' && plan.ordered) checkPages(world, asked);
}

/** An ordered read continues after each entry with exactly the rest. */
function checkPages(world: IndexedWorld, { criteria, sort, collation }: Query): void {
  const plan = world.plan({ criteria, sort, collation, limit: 1 });
  if (plan.kind !== 'index' || !plan.ordered) return;
  const order = sort && compileSort(sort, collation);
  const all = world.candidates(plan, { sort, collation });
  all.forEach((last, at) => {
    const key = order?.keyOf(last.document);
    const rest = world.candidates(plan, { sort, collation }, { key, rank: last.rank });
    expect(
      rest.map((entry) => entry.rank),
      fc.stringify([plan, last, all]),
    ).toEqual(all.slice(at + 1).map((entry) => entry.rank));
  });
}

describe('any plan returns the results of a scan', () => {
  for (const [name, document] of Object.entries({ flat, tidy, messy })) {
    test(`in ${name} documents`, () => {
      fc.assert(
        fc.property(
          fc.array(document, { maxLength: 12 }),
          fc.uniqueArray(index, { maxLength: 4, selector: (each) => each.name }),
          fc.array(stepsOver(document), { minLength: 1, maxLength: 12 }),
          (documents, definitions, steps) => {
            const world = new IndexedWorld(definitions, documents);
            for (const step of steps) step(world);
          },
        ),
        runs(3000),
      );
    });
  }
});
