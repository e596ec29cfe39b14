import { compareScalars } from '../value/compare-values.ts';
import type { Interval } from './interval.ts';

/**
 * The strings with the prefix of a pattern such as `/^abc/`; `undefined` for any other pattern, and
 * in a collation, which does not order by prefix.
 */
export function prefixInterval(pattern: RegExp, compare = compareScalars): Interval | undefined {
  const literal = literalOf(pattern);
  if (literal === '' || compare !== compareScalars) return undefined;
  const prefix = literal.slice(1).replace(/\\(.)/g, '$1');
  let end = prefix.length - 1;
  while (prefix.charCodeAt(end) === 0xffff) end--;
  const to =
    end < 0 ? false : prefix.slice(0, end) + String.fromCharCode(prefix.charCodeAt(end) + 1);
  return { from: prefix, to, fromOpen: false, toOpen: true };
}

/** Whether a pattern is nothing but a prefix. */
export function isPrefixOnly(pattern: RegExp): boolean {
  return literalOf(pattern) === pattern.source;
}

/** `^` and the literal characters behind it; empty if there is no literal prefix. */
function literalOf({ source, flags }: RegExp): string {
  // `|` adds alternatives. A quantified character (`*`, `?`, `{`) may be missing.
  if (flags !== '' || source.includes('|')) return '';
  return /^\^((?:[^\\^$.*+?()[\]{}|]|\\[^\w\s])(?![*?{]))+/.exec(source)?.[0] ?? '';
}
