import { isPlainObject } from '../../codec/kinds.ts';
import { criteriaInvalid, operandInvalid, placeBelow } from '../../query/query-errors.ts';

/** What is syntax in PCRE, and letters in JavaScript: a pattern with it finds nothing, or the wrong things. */
const PCRE = /\\(?:[ACEGHKNQRXZaeghoz]|[pPux]\{|[pP][CLMNPSZ])|\[:\^?[a-z]+:\]/;

/** Deepest nesting of criteria: what compiles and tests them recurses. */
const MAX_CRITERIA_DEPTH = 100;

/**
 * Refuses criteria that are nested too deeply or have holes, and patterns in the syntax of PCRE, which MongoDB's are.
 *
 * @param criteria Copied criteria.
 * @throws {CriteriaError} `criteria_invalid`, `operand_invalid`
 */
export function checkCriteria(criteria: unknown, place: string, depth = 0, isValue = false): void {
  if (depth > MAX_CRITERIA_DEPTH) {
    const problem = `are nested over ${MAX_CRITERIA_DEPTH} levels.`;
    throw criteriaInvalid(`${place.slice(0, 200)}…`, problem);
  }
  if (Array.isArray(criteria)) {
    // Not all indexes of a sparse array: there may be thousands of millions.
    for (let at = 0; at < criteria.length; at++) {
      const below = placeBelow(place, at);
      if (!(at in criteria)) throw criteriaInvalid(below, 'are a hole in an array; use null.');
      checkCriteria(criteria[at], below, depth + 1, isValue);
    }
  } else if (criteria instanceof RegExp) {
    if (!isValue) checkPattern(criteria.source, criteria.flags, place);
  } else if (isPlainObject(criteria)) {
    for (const [key, value] of Object.entries(criteria)) {
      const at = placeBelow(place, key);
      if (key === '$regex' && typeof value === 'string' && !isValue)
        checkPattern(value, criteria.$options, at);
      // It compares with a RegExp that is stored.
      else checkCriteria(value, at, depth + 1, isValue || key === '$eq');
    }
  }
}

function checkPattern(source: string, flags: unknown, place: string): void {
  const [foreign] = PCRE.exec(source.replaceAll('\\\\', '__')) ?? [];
  if (!foreign || /[uv]/.test(String(flags ?? ''))) return;
  const expected = `a pattern of JavaScript ("${foreign}" is PCRE's; \\p{…} and \\u{…} need the flag u)`;
  throw operandInvalid(place || 'params', expected, new RegExp(source));
}
