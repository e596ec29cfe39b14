import fc from 'fast-check';
import { type DocumentCommand, queries } from './document-model.ts';
import { padding, type Step, steps } from './world.ts';

/** Values that JSON keeps and values that only a structured clone keeps. */
const odd = fc.constantFrom<unknown>(
  Number.NaN,
  -0,
  2n ** 80n,
  new Date(7),
  new Date(Number.NaN),
  new Map([[1, { a: new Set(['b']) }]]),
  new Uint8Array([1, 2]),
  undefined,
  null,
  'a\uD800',
);

const fields = fc.record(
  {
    n: fc.integer({ min: 0, max: 5 }),
    tag: fc.constantFrom('x', 'y', ''),
    at: fc.constantFrom(new Date(0), new Date(99)),
    list: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 3 }),
    deep: fc.record({ a: odd, b: fc.constant({ c: 1 }) }, { requiredKeys: [] }),
    odd,
    pad: padding,
    // Managed, hence ignored.
    _updated: fc.constant('mine'),
  },
  { requiredKeys: [] },
);

const id = fc.option(fc.constantFrom(...'abcdefgh'), { nil: undefined });
const pick = fc.nat(30);

const document = fc
  .tuple(id, fields)
  .map(([_id, rest]) => (_id === undefined ? rest : { _id, ...rest }));

const changes = fc.dictionary(
  fc.constantFrom('n', 'tag', 'deep', 'deep.a', 'deep.new', 'made.by', 'tag.no', 'pad', '_id'),
  fc.oneof(fc.integer({ min: 0, max: 5 }), odd),
  { maxKeys: 3 },
);

/** Of fields that may be of another kind. */
const operators = fc.constantFrom<object>(
  { $inc: { n: 1 } },
  { $inc: { n: -2 }, $push: { list: 2 } },
  { $push: { list: new Date(1) }, $unset: { tag: '' } },
  { $inc: { odd: 1 } },
  { $push: { odd: 1 } },
);

const question = {
  query: fc.nat(queries.length - 1),
  archived: fc.constantFrom<boolean | 'only'>(false, false, true, 'only'),
  asFunction: fc.boolean(),
};

/** One call. */
export const documentCommand: fc.Arbitrary<DocumentCommand> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ op: fc.constant('insert' as const), id, fields }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('upsert' as const), id, fields }) },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constantFrom('insertMany' as const, 'upsertMany'),
      documents: fc.array(document, { maxLength: 4 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('update' as const), pick, fields }) },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant('patch' as const),
      pick,
      changes: fc.oneof(changes, operators),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constantFrom('patchMany' as const, 'patchOne'),
      changes: fc.oneof(operators, fc.constantFrom<object>({ tag: 'x' }, { 'deep.a': 1 })),
      ...question,
      // Often all of them: one that refuses comes after others.
      query: fc.oneof(fc.constant(0), question.query),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('modify' as const), pick }) },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant('getMany' as const),
      picks: fc.array(pick, { maxLength: 5 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constantFrom('archive' as const, 'unarchive', 'delete', 'delete', 'get'),
      pick,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constantFrom('find' as const, 'filter', 'has', 'count', 'deleteMany', 'deleteOne'),
      ...question,
    }),
  },
);

/** What may happen to a collection of documents. */
export const documentSteps: fc.Arbitrary<Step<DocumentCommand>[]> = steps(
  documentCommand,
  documentCommand.filter(({ op }) => op !== 'modify'),
);

/** Fields without the managed ones, which a model keeps by itself. */
export function ownFields<T extends object>(given: T): T {
  const { _updated: _, _id: __, ...own } = given as { _updated?: unknown; _id?: unknown };
  return own as T;
}
