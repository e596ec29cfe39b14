import type { CriteriaErrorCode } from '../../errors/criteria-error.ts';
import { unexpectedValue } from '../query-errors.ts';

/** The segments of a dotted path. @throws {CriteriaError} for an impossible path. */
export function checkPath(path: unknown, code: CriteriaErrorCode, place: string): string[] {
  const segments = typeof path === 'string' ? path.split('.') : [''];
  if (segments.some((segment) => segment === '' || segment === '__proto__')) {
    throw unexpectedValue(code, place, 'a path such as "name" or "address.city"', path);
  }
  return segments;
}
