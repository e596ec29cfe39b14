import { type Condition, EXPENSIVE, each, type ValueTest } from '../criteria/condition.ts';
import { operandInvalid, placeBelow, unexpectedValue } from '../query-errors.ts';
import { equalValues } from '../value/compare-values.ts';
import { isRegExp } from '../value/value-type.ts';
import type { Operator } from './operator.ts';

/** Most characters of a pattern's source, and of a string under test. */
const LONGEST_PATTERN = 1000;
const LONGEST_SUBJECT = 1_000_000;

/**
 * `$regex`, with `$options` beside it. JavaScript cannot stop catastrophic backtracking: `^(a+)+$` takes 18 seconds
 * for a string of 30 characters, and blocks its thread for as long. The limits on lengths do not prevent that; they
 * bound the cost of a harmless pattern. With `connect()` a worker that hangs in a pattern is restarted.
 */
export const $regex: Operator = (operand, { place, siblings }) => {
  const options = siblings.$options;
  if (typeof operand !== 'string' && !isRegExp(operand)) {
    throw operandInvalid(place, 'a string or a RegExp', operand);
  }
  if (options === undefined)
    return pattern(typeof operand === 'string' ? compile(operand, '', place) : operand, place);
  const optionsPlace = placeBelow(place.slice(0, -'.$regex'.length), '$options');
  const flags = flagsOf(options, optionsPlace);
  if (typeof operand === 'string') return pattern(compile(operand, flags, place), place);
  if (operand.flags !== '') {
    throw operandInvalid(
      optionsPlace,
      'left out, because the RegExp has flags of its own',
      options,
    );
  }
  return pattern(compile(operand.source, flags, place), place);
};

/** Only valid beside `$regex`, which has read it; matches everything itself. */
export const $options: Operator = (operand, { place, siblings }) => {
  if (!Object.hasOwn(siblings, '$regex')) throw operandInvalid(place, 'beside a $regex', operand);
  return { kind: 'all', conditions: [] };
};

/**
 * A RegExp as the criteria of a field: matches strings by the pattern, and equal RegExps.
 *
 * @throws {CriteriaError} `pattern_too_long`; the test throws `subject_too_long`.
 */
export function pattern(regExp: RegExp, place: string): Condition {
  return each(matchesPattern(regExp, place), EXPENSIVE);
}

export function matchesPattern(regExp: RegExp, place: string): ValueTest {
  limit('pattern_too_long', place, 'a pattern of', LONGEST_PATTERN, regExp.source);
  // With `g` or `y`, `test` begins at lastIndex: the same string would match every other time.
  const stateless = new RegExp(regExp.source, regExp.flags.replace('g', ''));
  return (value) => {
    if (typeof value !== 'string') return typeof value === 'object' && equalValues(value, regExp);
    // No match would hide the document, and a negation would show it.
    limit('subject_too_long', place, 'tried on', LONGEST_SUBJECT, value);
    stateless.lastIndex = 0;
    return stateless.test(value);
  };
}

function flagsOf(options: unknown, place: string): string {
  if (typeof options !== 'string' || !/^[imsu]*$/.test(options)) {
    throw operandInvalid(place, 'a string of the letters i, m, s, u', options);
  }
  return [...new Set(options)].join('');
}

function compile(source: string, flags: string, place: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch (error) {
    throw operandInvalid(place, 'a regular expression of JavaScript', source, error);
  }
}

function limit(
  code: 'pattern_too_long' | 'subject_too_long',
  place: string,
  what: string,
  most: number,
  text: string,
): void {
  if (text.length > most)
    throw unexpectedValue(code, place || 'criteria', `${what} at most ${most} characters`, text);
}
