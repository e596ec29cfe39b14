import { describe, expect, test } from 'vitest';
import { CriteriaError, type CriteriaErrorCode } from '../../../src/errors/errors.ts';
import { compileCriteria } from '../../../src/query/criteria/compile-criteria.ts';
import '../../setup/rare-operators.ts';

function refusalOf(criteria: unknown): CriteriaError {
  try {
    compileCriteria(criteria);
  } catch (error) {
    if (error instanceof CriteriaError) return error;
    throw error;
  }
  throw new Error('The criteria were accepted.');
}

type Row = readonly [criteria: unknown, code: CriteriaErrorCode, place: string];

const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });

const rows: Record<string, readonly Row[]> = {
  'criteria other than objects': [
    [undefined, 'criteria_invalid', ''],
    [null, 'criteria_invalid', ''],
    ['x', 'criteria_invalid', ''],
    [[{ a: 1 }], 'criteria_invalid', ''],
    [new Map(), 'criteria_invalid', ''],
  ],
  'unknown operators': [
    [{ age: { $gtt: 1 } }, 'operator_unknown', 'age.$gtt'],
    [{ 'a.b': { $gt: 1, $foo: 1 } }, 'operator_unknown', 'a.b.$foo'],
    [{ $where: '1' }, 'operator_unknown', '$where'],
    [{ $expr: {} }, 'operator_unknown', '$expr'],
    [{ $text: {} }, 'operator_unknown', '$text'],
    [{ $gt: 1 }, 'operator_unknown', '$gt'],
    [{ a: { $or: [] } }, 'operator_unknown', 'a.$or'],
    [{ $or: [{ a: 1 }, { b: { $near: 1 } }] }, 'operator_unknown', '$or[1].b.$near'],
    [{ a: { $not: { $x: 1 } } }, 'operator_unknown', 'a.$not.$x'],
    [{ a: { $elemMatch: { b: { $x: 1 } } } }, 'operator_unknown', 'a.$elemMatch.b.$x'],
    [{ a: { $constructor: 1 } }, 'operator_unknown', 'a.$constructor'],
  ],
  'operands of the wrong kind': [
    [{ $or: [] }, 'operand_invalid', '$or'],
    [{ $and: {} }, 'operand_invalid', '$and'],
    [{ $nor: [{}, 1] }, 'operand_invalid', '$nor[1]'],
    [{ $and: [{ $or: [[]] }] }, 'operand_invalid', '$and[0].$or[0]'],
    [{ a: { $in: 1 } }, 'operand_invalid', 'a.$in'],
    [{ a: { $nin: { 0: 1 } } }, 'operand_invalid', 'a.$nin'],
    [{ a: { $in: [1, { $gt: 1 }] } }, 'operand_invalid', 'a.$in[1]'],
    [{ a: { $all: 1 } }, 'operand_invalid', 'a.$all'],
    [{ a: { $all: [{ $gt: 1 }] } }, 'operand_invalid', 'a.$all[0]'],
    [{ a: { $all: [{ $elemMatch: { b: 1 } }, 2] } }, 'operand_invalid', 'a.$all[1]'],
    [{ a: { $not: 1 } }, 'operand_invalid', 'a.$not'],
    [{ a: { $not: {} } }, 'operand_invalid', 'a.$not'],
    [{ a: { $elemMatch: 1 } }, 'operand_invalid', 'a.$elemMatch'],
    [{ a: { $elemMatch: [] } }, 'operand_invalid', 'a.$elemMatch'],
    [{ a: { $size: -1 } }, 'operand_invalid', 'a.$size'],
    [{ a: { $size: 1.5 } }, 'operand_invalid', 'a.$size'],
    [{ a: { $size: '1' } }, 'operand_invalid', 'a.$size'],
    [{ a: { $mod: 2 } }, 'operand_invalid', 'a.$mod'],
    [{ a: { $mod: [2] } }, 'operand_invalid', 'a.$mod'],
    [{ a: { $mod: [2, 0, 0] } }, 'operand_invalid', 'a.$mod'],
    [{ a: { $mod: [0, 0] } }, 'operand_invalid', 'a.$mod[0]'],
    [{ a: { $mod: [0.5, 0] } }, 'operand_invalid', 'a.$mod[0]'],
    [{ a: { $mod: ['2', 0] } }, 'operand_invalid', 'a.$mod[0]'],
    [{ a: { $mod: [2, Number.NaN] } }, 'operand_invalid', 'a.$mod[1]'],
    [{ a: { $type: 'text' } }, 'operand_invalid', 'a.$type'],
    [{ a: { $type: 0 } }, 'operand_invalid', 'a.$type'],
    [{ a: { $type: [] } }, 'operand_invalid', 'a.$type'],
    [{ a: { $type: ['string', 99] } }, 'operand_invalid', 'a.$type[1]'],
    [{ a: { $regex: 1 } }, 'operand_invalid', 'a.$regex'],
    [{ a: { $regex: '(' } }, 'operand_invalid', 'a.$regex'],
    [{ a: { $regex: 'x', $options: 'x' } }, 'operand_invalid', 'a.$options'],
    [{ a: { $regex: /x/i, $options: 'm' } }, 'operand_invalid', 'a.$options'],
    [{ a: { $options: 'i' } }, 'operand_invalid', 'a.$options'],
    [{ a: { $ne: /x/ } }, 'operand_invalid', 'a.$ne'],
    [{ a: { $gt: /x/ } }, 'operand_invalid', 'a.$gt'],
  ],
  'shapes without a meaning': [
    [{ a: { $gt: 1, lt: 5 } }, 'criteria_invalid', 'a.lt'],
    [{ a: { b: 1, $gt: 1 } }, 'criteria_invalid', 'a.b'],
  ],
};

for (const [subject, list] of Object.entries(rows)) {
  describe(`${subject} are refused with code and place`, () => {
    test.each(list)('%j', (criteria, code, place) => {
      const error = refusalOf(criteria);
      expect([error.code, error.place]).toEqual([code, place]);
      if (place !== '') expect(error.message).toContain(`'${place}'`);
    });
  });
}

test('the error for an unknown operator has the nearest and all allowed operators', () => {
  expect(refusalOf({ age: { $gtt: 1 } }).message).toMatch(
    /did you mean \$gt\?.*\$eq, \$ne.*\$elemMatch/,
  );
  expect(refusalOf({ $an: [] }).message).toMatch(
    /did you mean \$and\?.*\$and, \$or, \$nor, \$expr, \$comment\./,
  );
  expect(refusalOf({ a: { $contains: 1 } }).message).not.toContain('did you mean');
  expect(refusalOf({ a: { $contains: 1 } }).message).toMatch(/\$contains.*\$eq, \$ne/);
  expect(refusalOf({ a: { $type: 'text' } }).message).not.toContain('such as');
  expect(refusalOf({ a: { $type: 'strin' } }).message).toContain("such as 'string'");
  expect(refusalOf({ $gt: 1 }).message).toContain('inside the criteria of a field');
  expect(refusalOf({ a: { $or: [] } }).message).toContain('at the top');
});

test('an unknown operator of any length is refused at once', () => {
  expect(refusalOf({ a: { [`$${'x'.repeat(1_000_000)}`]: 1 } }).code).toBe('operator_unknown');
});

test('documents much deeper than criteria cause no stack overflow', () => {
  let deep: Record<string, unknown> = {};
  for (let level = 0; level < 100000; level++) deep = { a: deep };
  expect(compileCriteria(nested(100)).test(deep)).toBe(false);
  expect(compileCriteria({ a: { a: {} } }).test(deep)).toBe(false);
});

test('the error for an invalid pattern has the cause', () => {
  expect(refusalOf({ a: { $regex: '(' } }).cause).toBeInstanceOf(SyntaxError);
});
