import { operandInvalid, placeBelow, unexpectedValue } from '../../query-errors.ts';
import { equalValues } from '../../value/compare-values.ts';
import { isRegExp } from '../../value/value-type.ts';
import { type Condition, EXPENSIVE, each, type ValueTest } from '../condition.ts';
import type { Operator } from './operator.ts';

/** Most characters of a pattern's source. */
const LONGEST_PATTERN = 1000;

/**
 * `$regex`, with `$options` beside it. JavaScript cannot stop catastrophic backtracking: `^(a+)+$`
 * takes 18 seconds for a string of 30 characters, and blocks its thread for as long. With
 * `connect()` a worker that hangs in a pattern is restarted.
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
 * @throws {CriteriaError} `pattern_too_long`. The test throws `subject_too_long` where JavaScript
 *   gives up.
 */
export function pattern(regExp: RegExp, place: string): Condition {
  return each(matchesPattern(regExp, place), EXPENSIVE);
}

export function matchesPattern(regExp: RegExp, place: string): ValueTest {
  if (regExp.source.length > LONGEST_PATTERN) {
    const expected = `a pattern of at most ${LONGEST_PATTERN} characters`;
    throw unexpectedValue('pattern_too_long', place || 'criteria', expected, regExp.source);
  }
  // With `g` or `y`, `test` begins at lastIndex: the same string would match every other time.
  const stateless = new RegExp(regExp.source, regExp.flags.replace('g', ''));
  return (value) => {
    if (typeof value !== 'string') return typeof value === 'object' && equalValues(value, regExp);
    stateless.lastIndex = 0;
    try {
      return stateless.test(value);
    } catch (error) {
      // No match would hide the document, and a negation would show it.
      const expected = 'a pattern that JavaScript can try on such a string';
      throw unexpectedValue('subject_too_long', place || 'criteria', expected, value, error);
    }
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
