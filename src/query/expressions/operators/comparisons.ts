import { operandInvalid } from '../../query-errors.ts';
import {
  argumentsOf,
  compileNamed,
  countItems,
  type Evaluate,
  type ExpressionOperator,
  isNullish,
  isTrue,
  namedOperands,
  ofArguments,
  wrongKind,
} from '../operator.ts';

/** Values of all kinds compare in MongoDB's order; a missing value comes before null. */
const compared = (test: (order: number) => unknown): ExpressionOperator =>
  ofArguments(2, 2, (place, a, b, _c, _d, { compare }) => {
    countItems(a, place);
    return test(compare(a, b));
  });

export const comparisons = {
  $eq: compared((order) => order === 0),
  $ne: compared((order) => order !== 0),
  $gt: compared((order) => order > 0),
  $gte: compared((order) => order >= 0),
  $lt: compared((order) => order < 0),
  $lte: compared((order) => order <= 0),
  $cmp: compared(Math.sign),
  $and: (operand, place, scope) => {
    const all = argumentsOf(operand, place, scope);
    return (document) => all.every((one) => isTrue(one(document)));
  },
  $or: (operand, place, scope) => {
    const all = argumentsOf(operand, place, scope);
    return (document) => all.some((one) => isTrue(one(document)));
  },
  $not: ofArguments(1, 1, (_, value) => !isTrue(value)),
  $cond: (operand, place, scope) => {
    if (Array.isArray(operand) && operand.length !== 3)
      throw operandInvalid(place, '[if, then, else]', operand);
    const names = ['if', 'then', 'else'];
    const given = Array.isArray(operand)
      ? Object.fromEntries(names.map((name, index) => [name, operand[index]]))
      : operand;
    const [test, then, other] = compileNamed(given, place, scope, names) as [
      Evaluate,
      Evaluate,
      Evaluate,
    ];
    return (document) => (isTrue(test(document)) ? then(document) : other(document));
  },
  $ifNull: (operand, place, scope) => {
    const all = argumentsOf(operand, place, scope, 2);
    const last = all.pop() as Evaluate;
    return (document) => {
      for (const one of all) {
        const value = one(document);
        if (!isNullish(value)) return value;
      }
      return last(document);
    };
  },
  $switch: (operand, place, scope) => {
    const { branches, default: fallback } = namedOperands(
      operand,
      place,
      ['branches'],
      ['default'],
    );
    if (!Array.isArray(branches) || branches.length === 0)
      throw operandInvalid(`${place}.branches`, 'a list of { case, then }', branches);
    const cases = branches.map((branch, index) => {
      const at = `${place}.branches[${index}]`;
      return compileNamed(branch, at, scope, ['case', 'then']) as [Evaluate, Evaluate];
    });
    const hasDefault = 'default' in (operand as object);
    const other = scope.compile(fallback, `${place}.default`, scope);
    return (document) => {
      for (const [test, then] of cases) if (isTrue(test(document))) return then(document);
      if (!hasDefault) throw wrongKind(place, 'a branch that holds, or a default', undefined);
      return other(document);
    };
  },
} satisfies Record<string, ExpressionOperator>;
