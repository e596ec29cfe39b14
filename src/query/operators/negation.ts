import { not } from '../criteria/condition.ts';
import { operandInvalid } from '../query-errors.ts';
import { isFields, isRegExp } from '../value/value-type.ts';
import type { Operator } from './operator.ts';
import { pattern } from './pattern.ts';

export const $not: Operator = (operand, { place, compileOperators }) => {
  if (isRegExp(operand)) return not(pattern(operand, place));
  if (!isFields(operand) || Object.keys(operand).length === 0) {
    throw operandInvalid(place, 'a RegExp or an object of operators', operand);
  }
  return not(compileOperators(operand, place));
};
