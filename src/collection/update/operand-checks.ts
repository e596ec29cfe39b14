import { isPlainObject } from '../../codec/kinds.ts';
import { updateInvalid } from './update-errors.ts';

/** @throws {ValueError} `update_invalid` for an operand of the wrong kind. */
type OperandCheck = (operand: unknown, place: string) => void;

const anything: OperandCheck = () => undefined;

/** The update operators, with the checks of their operands. */
export const operandChecks: ReadonlyMap<string, OperandCheck> = new Map([
  ['$set', anything],
  ['$unset', anything],
  ['$rename', check((operand) => typeof operand === 'string', 'the new path, a string')],
  ['$currentDate', check(isDateType, 'a boolean, { $type: "date" } or { $type: "timestamp" }')],
  ['$inc', check(isNumeric, 'a number or a bigint')],
  ['$mul', check(isNumeric, 'a number or a bigint')],
  ['$min', anything],
  ['$max', anything],
  ['$push', (operand, place) => checkEach(operand, place, pushModifiers)],
  ['$addToSet', (operand, place) => checkEach(operand, place, new Map())],
  ['$pull', anything],
  ['$pullAll', check(Array.isArray, 'an array of items')],
  ['$pop', check(isDirection, '1, the last item, or -1, the first')],
]);

const pushModifiers: ReadonlyMap<string, OperandCheck> = new Map([
  ['$position', check(Number.isSafeInteger, 'a whole number')],
  ['$slice', check(Number.isSafeInteger, 'a whole number')],
  ['$sort', checkSort],
]);

function check(test: (operand: unknown) => boolean, allowed: string): OperandCheck {
  return (operand, place) => {
    if (!test(operand)) throw updateInvalid(place, `must be ${allowed}`);
  };
}

function isNumeric(operand: unknown): boolean {
  return typeof operand === 'number' || typeof operand === 'bigint';
}

function isDirection(operand: unknown): boolean {
  return operand === 1 || operand === -1;
}

function isDateType(operand: unknown): boolean {
  if (typeof operand === 'boolean') return true;
  if (!isPlainObject(operand) || Object.keys(operand).length !== 1) return false;
  return operand.$type === 'date' || operand.$type === 'timestamp';
}

/** Checks an item, or several as `{ $each: […] }` with modifiers beside it. */
function checkEach(
  operand: unknown,
  place: string,
  modifiers: ReadonlyMap<string, OperandCheck>,
): void {
  if (!isPlainObject(operand)) return;
  const keys = Object.keys(operand);
  if (!keys.some((key) => key === '$each' || modifiers.has(key))) return;
  if (!keys.includes('$each')) throw updateInvalid(place, 'needs $each for its modifiers');
  for (const key of keys) {
    const at = `${place}.${key}`;
    const checkModifier =
      key === '$each' ? check(Array.isArray, 'an array of items') : modifiers.get(key);
    if (!checkModifier) {
      const known = ['$each', ...modifiers.keys()].join(', ');
      throw updateInvalid(at, `is unknown here; allowed are ${known}`);
    }
    if (operand[key] !== undefined || key === '$each') checkModifier(operand[key], at);
  }
}

function checkSort(sort: unknown, place: string): void {
  if (isDirection(sort)) return;
  const fields = isPlainObject(sort) ? Object.entries(sort) : [];
  if (fields.length === 0)
    throw updateInvalid(place, 'must be 1, -1, or paths in the items such as { price: 1 }');
  for (const [field, direction] of fields) {
    const at = `${place}.${field}`;
    const segments = field.split('.');
    if (segments.includes('') || segments.includes('__proto__'))
      throw updateInvalid(at, 'is no path, such as "price" or "size.width"');
    if (!isDirection(direction)) throw updateInvalid(at, 'must be 1 or -1');
  }
}
