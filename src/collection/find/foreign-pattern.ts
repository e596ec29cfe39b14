import { isPlainObject } from '../../codec/kinds.ts';
import { operandInvalid, placeBelow } from '../../query/query-errors.ts';

/** What is syntax in PCRE, and letters in JavaScript: a pattern with it finds nothing, or the wrong things. */
const PCRE = /\\(?:[ACEGHKNQRXZaeghoz]|[pPux]\{|[pP][CLMNPSZ])|\[:\^?[a-z]+:\]/;

/**
 * Refuses patterns in the syntax of PCRE, which MongoDB's are.
 *
 * @param criteria Copied criteria.
 * @throws {CriteriaError} `operand_invalid`
 */
export function refuseForeignPatterns(criteria: unknown, place: string): void {
  if (Array.isArray(criteria)) {
    criteria.forEach((item, at) => {
      refuseForeignPatterns(item, placeBelow(place, at));
    });
  } else if (criteria instanceof RegExp) check(criteria.source, criteria.flags, place);
  else if (isPlainObject(criteria)) {
    for (const [key, value] of Object.entries(criteria)) {
      const at = placeBelow(place, key);
      if (key === '$regex' && typeof value === 'string') check(value, criteria.$options, at);
      // It compares with a RegExp that is stored.
      else if (key !== '$eq') refuseForeignPatterns(value, at);
    }
  }
}

function check(source: string, flags: unknown, place: string): void {
  const [foreign] = PCRE.exec(source.replaceAll('\\\\', '__')) ?? [];
  if (!foreign || /[uv]/.test(String(flags ?? ''))) return;
  const expected = `a pattern of JavaScript ("${foreign}" is PCRE's; \\p{…} and \\u{…} need the flag u)`;
  throw operandInvalid(place || 'params', expected, new RegExp(source));
}
