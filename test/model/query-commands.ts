import fc from 'fast-check';
import type { Collation, IndexOption } from '../../src/index.ts';
import * as arbitrary from '../query/oracle/arbitrary-criteria.ts';
import type { DocumentCommand } from './document-model.ts';
import { type Step, steps } from './world.ts';

/** A question, in any of the ways to ask one. */
export interface Asking {
  readonly op: 'ask';
  readonly by:
    | 'filter'
    | 'find'
    | 'count'
    | 'has'
    | 'each'
    | 'pages'
    | 'explain'
    | 'deleteMany'
    | 'patchMany';
  readonly criteria: Record<string, unknown>;
  /** Asks with a function that lets everything pass besides the criteria. */
  readonly where: boolean;
  readonly options: {
    readonly archived: boolean | 'only';
    readonly sort?: Record<string, 1 | -1>;
    readonly skip?: number;
    readonly limit?: number;
    readonly select?: readonly string[];
    readonly collation?: Collation;
  };
  /** Of `patchMany`. */
  readonly changes?: object;
  /** A document after which the results begin, once the command is issued. */
  readonly anchor: number | undefined;
  readonly after?: { readonly _id: string } | undefined;
}

export type QueryCommand = Asking | DocumentCommand;

/** Few, so that documents, criteria and indexes meet. */
const common = fc.constantFrom<unknown[]>(1, 2, 'a', 'A', null, undefined);
const rare = fc.constantFrom<unknown[]>(
  ...[
    null,
    undefined,
    0,
    1,
    2,
    2n,
    -3,
    1.5,
    Number.NaN,
    '',
    'a',
    'á',
    'Ä',
    'ab',
    'b',
    '2',
    '10',
    true,
    false,
  ],
  ...[new Date(0), new Date(5)],
);
const scalar = fc.oneof(common, rare);
const value = fc.oneof(
  { arbitrary: scalar, weight: 20 },
  { arbitrary: fc.record({ a: scalar, b: scalar }, { requiredKeys: [] }), weight: 4 },
  { arbitrary: arbitrary.value, weight: 1 },
  { arbitrary: arbitrary.oddValue, weight: 1 },
);
const name = fc.constantFrom('a', 'a', 'b', '0');
const fields = fc
  .tuple(
    fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true }),
    // Now and then a value that only one document may have.
    fc.option(fc.record({ u: fc.constantFrom<unknown[]>(1, 2, 'x', null, new Date(3), [1]) })),
    // Now and then long, so that segments fill and are merged.
    fc.option(fc.constant({ pad: 'p'.repeat(30_000) }), { freq: 7 }),
  )
  .map(([own, unique, pad]): object => ({ ...own, ...unique, ...pad }));

const path = fc.constantFrom('a', 'a', 'a', 'b', 'b', 'a.b', 'b.a', '0', 'a.0');
const managed = fc.constantFrom('_archived', '_updated', '_created_timestamp', '_updated_at');
const anyPath = fc.oneof(
  { arbitrary: path, weight: 5 },
  { arbitrary: managed, weight: 1 },
  { arbitrary: fc.constant('_id'), weight: 1 },
);

const collation = fc.constantFrom<Collation[]>('sv', { locale: 'de', strength: 1, numeric: true });
const where = fc.constantFrom<Record<string, unknown>[]>(
  { _archived: false },
  { _archived: true, a: 1 },
  { b: { $gte: 0 } },
  { a: { $in: [1, 'a', null] } },
);
const index: fc.Arbitrary<IndexOption> = fc.oneof(
  fc.record({ fields: path, where, multi: fc.boolean() }),
  fc.record({ fields: path, collation, multi: fc.boolean() }),
  path,
  managed,
  path.map((each) => ({ fields: each, multi: true })),
  fc.uniqueArray(path, { minLength: 2, maxLength: 3 }).map((each) => ({ fields: each })),
);

type PlainIndex = Extract<IndexOption, { fields: unknown }>;

const nameOf = (option: IndexOption) => {
  const { fields, collation, where } =
    typeof option === 'string'
      ? { fields: option, collation: 0, where: 0 }
      : (option as PlainIndex);
  return JSON.stringify([fields, collation ?? 0, where ?? 0].flat());
};

/** Declarations, one for each time the collection is opened. */
export const declarations: fc.Arbitrary<IndexOption[][]> = fc.array(
  fc.uniqueArray(index, { maxLength: 5, selector: nameOf }),
  { minLength: 1, maxLength: 3 },
);

const criteria = fc.oneof(
  { arbitrary: fc.constant<Record<string, unknown>>({}), weight: 1 },
  {
    arbitrary: fc
      .tuple(path, fc.oneof(common, scalar))
      .map(([at, is]): Record<string, unknown> => ({ [at]: is })),
    weight: 6,
  },
  {
    arbitrary: fc
      .tuple(path, scalar, scalar)
      .map(([at, $gte, $lt]): Record<string, unknown> => ({ [at]: { $gte, $lt } })),
    weight: 2,
  },
  {
    arbitrary: fc.constantFrom<Record<string, unknown>[]>(
      { _id: { $in: ['a', 'c', 'e'] } },
      { _id: 'b' },
      { a: 1, b: 2 },
      { a: { $in: [1, 2, null] } },
      { $or: [{ a: 1 }, { b: 1 }] },
      { _archived: true },
      { _updated: false, a: { $gte: 0 } },
      { u: { $in: [1, 'x'] } },
    ),
    weight: 3,
  },
  {
    arbitrary: arbitrary.criteria({
      operand: fc.oneof(scalar, arbitrary.value),
      operators: ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$all', '$not'].concat(
        ['$exists', '$type', '$regex', '$size', '$elemMatch', '$mod'],
      ),
    }),
    weight: 3,
  },
);

const sort = fc
  .uniqueArray(fc.tuple(anyPath, fc.constantFrom<(1 | -1)[]>(1, -1)), {
    minLength: 1,
    maxLength: 3,
    selector: ([at]) => at,
  })
  .map((parts) => Object.fromEntries(parts));

const asking: fc.Arbitrary<Asking> = fc
  .record({
    op: fc.constant('ask' as const),
    by: fc.constantFrom<Asking['by'][]>(
      ...([
        'filter',
        'filter',
        'filter',
        'find',
        'count',
        'has',
        'each',
        'pages',
        'explain',
      ] as const),
      'deleteMany',
    ),
    criteria,
    where: fc.boolean(),
    options: fc.record(
      {
        archived: fc.constantFrom<(boolean | 'only')[]>(false, false, true, 'only'),
        sort,
        skip: fc.nat(3),
        limit: fc.nat(5),
        select: fc.array(anyPath, { maxLength: 3 }),
        collation,
      },
      { requiredKeys: ['archived'] },
    ),
    anchor: fc.option(fc.nat(30), { nil: undefined, freq: 3 }),
  })
  // It changes all matches, so it takes no order and no part of it.
  .map((one) =>
    one.by === 'deleteMany'
      ? { ...one, options: { archived: one.options.archived }, anchor: undefined }
      : one,
  );

/**
 * Some of them exchange keys of the unique index, some violate it, some meet values of another
 * kind.
 */
const patching: fc.Arbitrary<Asking> = fc.record({
  op: fc.constant('ask' as const),
  by: fc.constant('patchMany' as const),
  criteria: fc.oneof(
    criteria,
    fc.constantFrom<Record<string, unknown>[]>(
      { u: { $type: 'number' } },
      { u: { $gte: 0 }, a: 1 },
      { a: { $gte: 0 } },
    ),
  ),
  where: fc.boolean(),
  changes: fc.constantFrom<object[]>(
    { $inc: { u: 1 } },
    { $inc: { u: -1 } },
    { u: 2 },
    { $unset: { u: '' } },
    { $inc: { a: 1 } },
    { $push: { b: 1 } },
    { a: 2, b: null },
  ),
  options: fc.record({ archived: fc.constantFrom<(boolean | 'only')[]>(false, true, 'only') }),
  anchor: fc.constant(undefined),
});

const id = fc.option(fc.constantFrom(...'abcdefgh'), { nil: undefined });
const document = fc
  .tuple(id, fields)
  .map(([_id, rest]) => (_id === undefined ? rest : { _id, ...rest }));
const pick = fc.nat(30);

const command: fc.Arbitrary<QueryCommand> = fc.oneof(
  { weight: 24, arbitrary: asking },
  { weight: 5, arbitrary: patching },
  { weight: 4, arbitrary: fc.record({ op: fc.constant('insert' as const), id, fields }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('upsert' as const), id, fields }) },
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constantFrom('insertMany' as const, 'upsertMany'),
      documents: fc.array(document, { maxLength: 8 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('update' as const), pick, fields }) },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant('patch' as const),
      pick,
      changes: fc.dictionary(fc.constantFrom('a', 'b', '0', 'u'), scalar, { maxKeys: 2 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      op: fc.constantFrom('archive' as const, 'unarchive', 'delete', 'delete', 'get'),
      pick,
    }),
  },
);

/**
 * What may happen to a collection with indexes. It begins with a few documents, archived ones among
 * them.
 */
export const querySteps: fc.Arbitrary<Step<QueryCommand>[]> = fc
  .tuple(
    fc.array(document, { minLength: 4, maxLength: 12 }),
    fc.array(pick, { maxLength: 3 }),
    steps(
      command,
      command.filter((each) => each.op !== 'ask' || each.by !== 'pages'),
    ),
  )
  .map(([documents, picks, rest]) => [
    awaited({ op: 'insertMany', documents }),
    ...picks.map((each) => awaited({ op: 'archive', pick: each })),
    ...rest,
  ]);

function awaited(first: QueryCommand): Step<QueryCommand> {
  return { step: 'await', command: first };
}
