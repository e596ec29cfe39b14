import { CriteriaError, type CriteriaErrorCode } from '../errors/errors.ts';
import { nearestName } from '../errors/nearest-name.ts';
import { isFields } from './value/value-type.ts';

/** The place of a member of criteria, such as `address.city.$gt` or `$or[1].age`. */
export function placeBelow(place: string, key: string | number): string {
  if (typeof key === 'number') return `${place}[${key}]`;
  return place === '' ? key : `${place}.${key}`;
}

export function criteriaInvalid(place: string, problem: string, cause?: unknown): CriteriaError {
  const where = place === '' ? 'The criteria' : `Criteria at '${place}'`;
  return new CriteriaError('criteria_invalid', `${where} ${problem}`, { place, cause });
}

export function operandInvalid(
  place: string,
  expected: string,
  operand: unknown,
  cause?: unknown,
): CriteriaError {
  return unexpectedValue('operand_invalid', place, expected, operand, cause);
}

export function unexpectedValue(
  code: CriteriaErrorCode,
  place: string,
  expected: string,
  value: unknown,
  cause?: unknown,
): CriteriaError {
  const message = `Expected '${place}' to be ${expected}, got ${describe(value)}.`;
  return new CriteriaError(code, message, { place, cause });
}

/**
 * @param known The operators allowed at this place.
 * @param elsewhere The hint for an operator that belongs to another place.
 */
export function operatorUnknown(
  place: string,
  name: string,
  known: readonly string[],
  elsewhere: string | undefined,
): CriteriaError {
  const near = nearestName(name, known);
  const hint = elsewhere ?? (near ? `did you mean ${near}?` : 'no similar operator exists.');
  const message = `Unknown operator ${name} at '${place}': ${hint} Allowed here: ${known.join(', ')}.`;
  return new CriteriaError('operator_unknown', message, { place });
}

function describe(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value.length > 40 ? `a string of ${value.length} characters` : `'${value}'`;
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return `an array of ${value.length}`;
      if (isFields(value)) return 'an object';
      return `a ${Object.prototype.toString.call(value).slice(8, -1)}`;
    case 'function':
    case 'symbol':
      return `a ${typeof value}`;
    default:
      return String(value);
  }
}
