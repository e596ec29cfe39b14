import { fc } from '../../setup/properties.ts';

type Fields = Record<string, unknown>;
type Change = readonly [operator: string, path: string, operand: unknown];

const scalar = fc.constantFrom<unknown[]>(0, 1, 2, -3, 1.5, '', 'a', 'b', true, false, null);
const number = fc.constantFrom(0, 1, 2, -3, 1.5, 1e300);
const date = fc.constantFrom(new Date(0), new Date(5));
/** All fields, in one order: mingo takes objects with another order for equal ones. */
const object = fc.record({ x: number, y: scalar });
const flat = fc.array(scalar, { maxLength: 4 });
const objects = fc.array(object, { maxLength: 3 });
const any = fc.oneof(scalar, date, object, flat);

/**
 * Every field has the kind that its operators want, or is missing: mingo ignores what the server
 * refuses.
 */
export const document = fc.record(
  {
    n: number,
    v: fc.oneof(scalar, date),
    d: date,
    list: flat,
    set: fc.uniqueArray(scalar, { maxLength: 4 }),
    rows: objects,
    o: fc.record(
      { n: number, v: any, list: flat, in: fc.record({ n: number }) },
      { requiredKeys: [] },
    ),
    old: any,
    'old 2': any,
  },
  { requiredKeys: ['list', 'set', 'rows'], noNullPrototype: true },
);

const integer = fc.integer({ min: -4, max: 4 });
const direction = fc.constantFrom(1, -1);
const position = fc.option(integer, { nil: undefined });
/** `$sort` by one path, and only of objects; whole items without arrays among them. */
const modifiers = (item: fc.Arbitrary<unknown>, sort: fc.Arbitrary<unknown>) =>
  fc
    .record({
      $each: fc.array(item, { maxLength: 3 }),
      $position: position,
      $slice: position,
      $sort: fc.option(sort, { nil: undefined }),
    })
    .map((all) =>
      Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
    );
const each = (item: fc.Arbitrary<unknown>) =>
  fc.array(item, { maxLength: 3 }).map(($each) => ({ $each }));

const onItems = fc.oneof(
  fc.record({ $gte: number, $lt: number }),
  fc.record({ $in: fc.array(scalar, { maxLength: 3 }) }),
  fc.record({ $nin: fc.array(scalar, { maxLength: 3 }) }),
  fc.record({ $ne: scalar }),
  fc.record({ $eq: scalar }),
  fc.record({ $type: fc.constantFrom('string', 'bool', 'number') }),
  fc.constantFrom(/a/, /^$/),
);
const onRows = fc.oneof(
  fc.record({ x: number }),
  fc.record({ x: fc.record({ $gte: number }), y: scalar }),
  fc.record({ y: fc.record({ $ne: scalar }) }),
  fc.record({ x: fc.record({ $in: fc.array(number, { maxLength: 3 }) }) }),
  fc.constant({}),
);

function change(
  operator: string,
  paths: readonly string[],
  operand: fc.Arbitrary<unknown>,
): fc.Arbitrary<Change> {
  return fc.tuple(fc.constant(operator), fc.constantFrom(...paths), operand);
}

const numbers = ['n', 'o.n', 'o.in.n', 'new', 'fresh.n', 'rows.0.x', 'rows.0.n'];
const values = ['v', 'o.v', 'old', 'new', 'fresh.v.w', 'list.0', 'rows.0.y', 'rows.0.z'];
const lists = ['list', 'o.list', 'new', 'fresh.list', 'rows.0.list'];
const present = ['list', 'set'];

const changes = fc.oneof(
  change('$inc', numbers, number),
  change('$mul', numbers, number),
  change('$min', ['n', 'v', 'd', 'o.n', 'new'], fc.oneof(scalar, date)),
  change('$max', ['n', 'v', 'd', 'o.n', 'new'], fc.oneof(scalar, date)),
  change('$set', [...numbers, ...values, ...lists, 'o', 'rows'], any),
  change('$unset', [...numbers, ...values, ...lists, 'nowhere.at.all', 'list.9', 'v.x'], any),
  change('$rename', ['old', 'old 2', 'o.v', 'nowhere'], fc.constantFrom('new', 'fresh.name', 'v')),
  change('$push', lists, fc.oneof(scalar, date, object, flat, each(any))),
  change('$push', present, modifiers(fc.oneof(scalar, date), direction)),
  change('$push', ['rows'], modifiers(object, fc.record({ x: direction }))),
  change('$addToSet', ['set'], fc.oneof(scalar, date, each(scalar))),
  change('$addToSet', ['new', 'fresh.list'], fc.oneof(scalar, date, object, flat)),
  change('$pull', lists, fc.oneof(scalar, onItems)),
  change('$pull', ['rows'], onRows),
  change('$pullAll', lists, fc.array(scalar, { maxLength: 3 })),
  change('$pullAll', ['rows'], objects),
  change('$pop', [...lists, 'rows', 'nowhere.at.all'], direction),
);

/** Changes without a path in another, which both refuse. */
export const updates = fc.array(changes, { minLength: 1, maxLength: 4 }).map((all) => {
  const taken: string[] = [];
  const asked: Record<string, Fields> = {};
  for (const [operator, path, operand] of all) {
    const paths = operator === '$rename' ? [path, operand as string] : [path];
    if (paths.some((one) => taken.some((other) => isInside(one, other) || isInside(other, one))))
      continue;
    taken.push(...paths);
    asked[operator] = { ...asked[operator], [path]: operand };
  }
  return asked;
});

function isInside(path: string, other: string): boolean {
  return `${path}.`.startsWith(`${other}.`);
}

const step = fc.constantFrom('a', 'b', '0', '1', '2', '01', 'length', 'constructor');
const path = fc.array(step, { minLength: 1, maxLength: 3 }).map((steps) => steps.join('.'));
const anyPath = fc.oneof(
  { arbitrary: path, weight: 30 },
  { arbitrary: fc.constantFrom('', 'a.', 'a..b', '__proto__', 'a.$', 'a.$[]', '_id'), weight: 1 },
);
const name = fc.constantFrom(
  ...['a', 'b', '0', '$each', '$slice', '$position', '$sort', '$type', '$in', '$gte', '$ne'],
  ...['$not', '$or', '$regex', '$elemMatch', '$size', '$', '', 'constructor'],
);
/** JSON with the names of operators in it. */
const json = fc.letrec<{ value: unknown; object: Fields }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<unknown[]>(null, 0, 1, -1, 2.5, 1e21, '', 'a', 'a.b', '(', true, false, 'date'),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
})).value;

/** Documents of few names, so that any path leads somewhere. */
export const anyDocument = fc.dictionary(step, json, {
  minKeys: 1,
  maxKeys: 4,
  noNullPrototype: true,
});

const anyOperator = fc.constantFrom(
  ...['$set', '$unset', '$inc', '$mul', '$min', '$max', '$rename', '$currentDate', '$push'],
  ...['$addToSet', '$pull', '$pullAll', '$pop'],
);
const operands = fc.dictionary(anyPath, json, { minKeys: 1, maxKeys: 2, noNullPrototype: true });

/** Operators with any operands, right or wrong. */
export const anyUpdate = fc.dictionary(anyOperator, operands, {
  maxKeys: 3,
  noNullPrototype: true,
});

/** Any object at all. */
export const anyChanges = fc.dictionary(
  fc.oneof(anyOperator, anyPath, name, fc.string({ maxLength: 3 })),
  fc.oneof(json, operands, fc.jsonValue()),
  { maxKeys: 3, noNullPrototype: true },
);
