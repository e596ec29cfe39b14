import fc from 'fast-check';

/** Few names and few values, so that criteria and documents meet. */
const name = fc.constantFrom('a', 'b', '0', '1');
const scalar = fc.constantFrom<unknown[]>(
  null,
  0,
  1,
  2,
  -3,
  1.5,
  '',
  'a',
  'b',
  true,
  false,
  new Date(0),
  new Date(5),
);

/** A field's value: scalars, and nested arrays and objects. */
export const value = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    { arbitrary: scalar, weight: 3 },
    { arbitrary: fc.array(tie('value'), { maxLength: 3 }), weight: 2 },
    { arbitrary: tie('object'), weight: 2 },
  ),
  object: fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
})).value;

export const document = fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true });

/** A value that only JavaScript has, or that BSON orders differently. */
export const oddValue = fc.constantFrom<unknown[]>(
  undefined,
  Number.NaN,
  -0,
  2n,
  /a/,
  /a/i,
  new Date(Number.NaN),
);

const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((segments) => segments.join('.'));
const pattern = fc.constantFrom(/a/, /^B/i, /^$/);

export interface CriteriaOptions {
  readonly operand: fc.Arbitrary<unknown>;
  readonly operators: readonly string[];
}

/** Valid criteria of the named operators. */
export function criteria({
  operand,
  operators,
}: CriteriaOptions): fc.Arbitrary<Record<string, unknown>> {
  const types = fc.constantFrom<unknown[]>(
    'double',
    'string',
    'object',
    'array',
    'bool',
    'date',
    'null',
    'int',
    'long',
    'number',
    4,
    8,
  );
  const literal = operand.filter((item) => !(item instanceof RegExp));
  const equal = fc.oneof({ arbitrary: literal, weight: 3 }, { arbitrary: pattern, weight: 1 });
  return fc.letrec<{
    criteria: Record<string, unknown>;
    fields: Record<string, unknown>;
    field: unknown;
    operators: Record<string, unknown>;
  }>((tie) => {
    const make: Record<string, fc.Arbitrary<unknown>> = {
      $eq: operand,
      $ne: literal,
      $gt: literal,
      $gte: literal,
      $lt: literal,
      $lte: literal,
      $in: fc.array(equal, { maxLength: 3 }),
      $nin: fc.array(equal, { maxLength: 3 }),
      $all: fc.oneof(
        fc.array(equal, { maxLength: 3 }),
        fc.array(fc.record({ $elemMatch: tie('fields') }), { minLength: 1, maxLength: 2 }),
      ),
      $not: fc.oneof(pattern, tie('operators')),
      $exists: fc.boolean(),
      $type: fc.oneof(types, fc.array(types, { minLength: 1, maxLength: 2 })),
      $regex: fc.constantFrom<unknown[]>('a', '^b', '^$'),
      $size: fc.nat(3),
      $elemMatch: fc.oneof(tie('fields'), tie('operators')),
      $mod: fc.tuple(fc.constantFrom(2, 3, -2, 2.9), fc.constantFrom(0, 1, -1)),
    };
    const available = operators.map((operator) => {
      const operand = make[operator];
      if (!operand) throw new Error(`No arbitrary for ${operator}`);
      return operand.map((value) => ({ [operator]: value }));
    });
    const some = fc.array(tie('fields'), { minLength: 1, maxLength: 3 });
    return {
      operators: fc
        .array(fc.oneof({ maxDepth: 3 }, ...available), { minLength: 1, maxLength: 2 })
        .map((parts) => Object.assign({}, ...parts)),
      field: fc.oneof({ maxDepth: 3 }, equal, tie('operators')),
      fields: fc.dictionary(path, tie('field'), { minKeys: 1, maxKeys: 2, noNullPrototype: true }),
      criteria: fc.oneof(
        { maxDepth: 2 },
        { arbitrary: tie('fields'), weight: 4 },
        ...['$and', '$or', '$nor'].map((logic) => ({
          arbitrary: some.map((list) => ({ [logic]: list })),
          weight: 1,
        })),
      ),
    };
  }).criteria;
}
