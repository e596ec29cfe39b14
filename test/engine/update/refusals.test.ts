import { operandChecks } from '../../../src/query/update/check-operators.ts';
import { MANAGED_FIELDS } from '../../../src/storage/segments/stored-record.ts';
import { type RefusalRow, refusalTable, updateTable } from './cases.ts';

const operators = [
  ...['$set', '$unset', '$inc', '$mul', '$min', '$max', '$rename', '$currentDate'],
  ...['$push', '$addToSet', '$pull', '$pullAll', '$pop'],
];
/** An operand that the operator accepts. */
const operandOf = (name: string): unknown =>
  name === '$rename' ? 'b' : name === '$currentDate' ? true : name === '$pullAll' ? [1] : 1;

refusalTable('unknown operators', [
  [{ $ince: { a: 1 } }, 'update_invalid', 'changes.$ince', '$inc'],
  [{ $icn: { a: 1 } }, 'update_invalid', 'changes.$icn', 'did you mean "$inc"?'],
  [{ $sett: { a: 1 } }, 'update_invalid', 'changes.$sett', '$set'],
  [{ $addToset: { a: 1 } }, 'update_invalid', 'changes.$addToset', '$addToSet'],
  [{ $pullall: { a: [] } }, 'update_invalid', 'changes.$pullall', '$pullAll'],
  [{ $bit: { a: { or: 1 } } }, 'update_invalid', 'changes.$bit', '$bit'],
  [{ $pushAll: { a: [] } }, 'update_invalid', 'changes.$pushAll'],
  [{ $each: [] }, 'update_invalid', 'changes.$each'],
  [{ $gt: { a: 1 } }, 'update_invalid', 'changes.$gt'],
  [{ $: { a: 1 } }, 'update_invalid', 'changes.$'],
  [{ $constructor: { a: 1 } }, 'update_invalid', 'changes.$constructor'],
  [{ $toString: { a: 1 } }, 'update_invalid', 'changes.$toString'],
  [{ $set: { a: 1 }, $zzz: {} }, 'update_invalid', 'changes.$zzz', '$zzz'],
]);

refusalTable('operators as values of fields', [
  [{ n: { $inc: 1 } }, 'update_invalid', 'changes.n', 'write { $inc: { n: 1 } }'],
  [{ 'a.b': { $inc: 1 } }, 'update_invalid', 'changes.a.b', "{ $inc: { 'a.b': 1 } }"],
  [{ a: 1, tags: { $push: 'x' } }, 'update_invalid', 'changes.tags', '{ $push: { tags: … } }'],
  [{ n: { $min: 1, $max: 2 } }, 'update_invalid', 'changes.n', '$min'],
]);

refusalTable(
  'every operator as the value of a field',
  [...operandChecks.keys()].map(
    (name): RefusalRow => [{ n: { [name]: 1 } }, 'update_invalid', 'changes.n', name],
  ),
);

updateTable('values that are no operators', [
  ['no keys', { n: 1 }, { n: {} }, { n: {} }],
  ['an unknown name', { n: 1 }, { n: { $ref: 1 } }, { n: { $ref: 1 } }],
  ['another key beside it', { n: 1 }, { n: { $inc: 1, x: 1 } }, { n: { $inc: 1, x: 1 } }],
  ['deeper', { n: 1 }, { n: { x: { $inc: 1 } } }, { n: { x: { $inc: 1 } } }],
  ['inside of an array', { n: 1 }, { n: [{ $inc: 1 }] }, { n: [{ $inc: 1 }] }],
  ['as the value of $set', { n: 1 }, { $set: { n: { $inc: 1 } } }, { n: { $inc: 1 } }],
]);

refusalTable('fields beside operators', [
  [{ a: 1, $set: { b: 1 } }, 'update_invalid', 'changes.$set', '$set'],
  [{ $set: { b: 1 }, a: 1 }, 'update_invalid', 'changes.a', 'a'],
  [{ a: 1, b: 2, $inc: { c: 1 }, d: 3 }, 'update_invalid', 'changes.$inc'],
  [{ $set: {}, $inc: {}, 'x.y': 1, z: 2 }, 'update_invalid', 'changes.x.y'],
  [{ a: 1, $unknown: 1 }, 'update_invalid', 'changes.$unknown'],
]);

const notFields = [null, undefined, 1, 'a', true, [], [['a', 1]], new Date(0), /x/, new Map()];
for (const name of operators) {
  refusalTable(
    `operands of ${name} that are no objects`,
    notFields.map(
      (operand): RefusalRow => [{ [name]: operand }, 'update_invalid', `changes.${name}`, name],
    ),
  );
}

for (const name of operators) {
  const at = (path: string) => ({ [name]: { [path]: operandOf(name) } });
  refusalTable(`paths of ${name}`, [
    ...['a.$', 'a.$.b', 'a.$[].b.$', '$', '$[]', '$[x]'].map(
      (path): RefusalRow => [at(path), 'update_invalid', `changes.${name}.${path}`, '$'],
    ),
    ...['', '.', 'a.', '.a', 'a..b', 'a.__proto__', '__proto__.a'].map(
      (path): RefusalRow => [at(path), 'key_invalid', path],
    ),
    [at('__proto__'), 'key_forbidden', `changes.${name}.__proto__`],
  ]);
}

refusalTable('paths of plain fields', [
  [{ '$[]': 1 }, 'update_invalid', 'changes.$[]'],
  ...['a.$', 'a.$.b'].map(
    (path): RefusalRow => [{ [path]: 1 }, 'update_invalid', `changes.$set.${path}`],
  ),
  ...['', 'a.', '.a', 'a..b', 'a.__proto__.b'].map(
    (path): RefusalRow => [{ [path]: 1 }, 'key_invalid', path],
  ),
  [JSON.parse('{ "__proto__": 1 }'), 'key_forbidden', 'changes.__proto__'],
]);

for (const name of operators.filter((operator) => operator !== '$set')) {
  refusalTable(`managed fields under ${name}`, [
    ...[...MANAGED_FIELDS, '_id.x'].map(
      (path): RefusalRow => [
        { [name]: { [path]: operandOf(name) } },
        'update_invalid',
        `changes.${name}.${path}`,
        'managed',
      ],
    ),
  ]);
}

function operands(name: string, place: string, refused: readonly unknown[]): void {
  refusalTable(
    `operands of ${name}`,
    refused.map((operand): RefusalRow => [{ [name]: { 'a.b': operand } }, 'update_invalid', place]),
  );
}

const notNumbers = [null, undefined, '1', '', true, [1], {}, { $each: [1] }, new Date(1), /1/];
operands('$inc', 'changes.$inc.a.b', notNumbers);
operands('$mul', 'changes.$mul.a.b', notNumbers);
operands('$pop', 'changes.$pop.a.b', [
  ...notNumbers,
  0,
  -0,
  2,
  -2,
  1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
]);
operands('$pullAll', 'changes.$pullAll.a.b', [
  null,
  undefined,
  1,
  'x',
  {},
  { 0: 1 },
  new Set([1]),
  { $in: [1] },
]);
operands('$rename', 'changes.$rename.a.b', [null, undefined, 1, true, ['c'], {}, new Date(0)]);
operands('$currentDate', 'changes.$currentDate.a.b', [
  ...[null, undefined, 1, 'date', [], {}, new Date(0)],
  ...[{ type: 'date' }, { $type: 'date', x: 1 }],
]);
operands('$currentDate', 'changes.$currentDate.a.b', [
  ...['string', 'Date', 'TIMESTAMP', '', 9, null, true, ['date']].map(($type) => ({ $type })),
]);

refusalTable('targets of $rename', [
  [{ $rename: { a: '_id' } }, 'update_invalid', 'changes.$rename.a', 'managed'],
  [{ $rename: { a: '_created_at.x' } }, 'update_invalid', 'changes.$rename.a', 'managed'],
  [{ $rename: { a: 'b.$' } }, 'update_invalid', 'changes.$rename.a', '$'],
  [{ $rename: { a: 'b.$[].c' } }, 'update_invalid', 'changes.$rename.a', '$[]'],
  [{ $rename: { a: '' } }, 'key_invalid', ''],
  [{ $rename: { a: 'b..c' } }, 'key_invalid', 'b..c'],
  [{ $rename: { a: '__proto__.b' } }, 'key_invalid', '__proto__.b'],
]);

refusalTable('criteria of $pull', [
  [{ $pull: { a: { $foo: 1 } } }, 'operator_unknown', 'changes.$pull.a.$foo'],
  [{ $pull: { a: { b: { $foo: 1 } } } }, 'operator_unknown', 'changes.$pull.a.b.$foo'],
  [{ $pull: { 'a.b': { c: { $in: 1 } } } }, 'operand_invalid', 'changes.$pull.a.b.c.$in'],
  [{ $pull: { a: { $in: 1 } } }, 'operand_invalid', 'changes.$pull.a.$in'],
  [{ $pull: { a: { $gte: 1, $foo: 1 } } }, 'operator_unknown', 'changes.$pull.a.$foo'],
  [{ $pull: { a: { $where: 'true' } } }, 'operator_unknown', 'changes.$pull.a.$where'],
  [{ $pull: { a: { $or: [] } } }, 'operand_invalid', 'changes.$pull.a.$or'],
  [
    { $pull: { a: { $or: [{ b: { $foo: 1 } }] } } },
    'operator_unknown',
    'changes.$pull.a.$or[0].b.$foo',
  ],
]);
