import { KeyError } from '../../errors/errors.ts';
import { isIndex, MAX_SEGMENTS } from './own-property.ts';

/** A parsed key: the record, then the path inside its value. */
export type KeyPath = readonly [record: string, ...path: (string | number)[]];

/**
 * Parses a key. The first segment names the stored record, the rest is the path inside its value.
 * `[3]` is an index; a backslash escapes the dot and the brackets.
 *
 * @throws {KeyError} `key_invalid`
 */
export function parseKey(key: unknown): KeyPath {
  if (typeof key === 'string') return checked(parseText(key), key);
  if (typeof key === 'number') return checked([key], String(key));
  if (Array.isArray(key)) return checked(key, JSON.stringify(key));
  throw invalid(String(typeof key), 'a key is a string, a number or an array of them');
}

/**
 * Parses the dotted path to a field. Digits are an index where an array is.
 *
 * @throws {KeyError} `key_invalid`
 */
export function parseFieldPath(path: string): string[] {
  const segments = path.split('.');
  checkLength(segments, path);
  for (const segment of segments) checkSegment(segment, path);
  return segments;
}

/** Whether a segment stands for items of an array: `$`, `$[]` or `$[name]`. */
export function isPositional(segment: string): boolean {
  return /^\$(\[.*\])?$/s.test(segment);
}

/**
 * The order in which MongoDB applies paths, and adds new fields: by segment, positions by number. A
 * path comes directly before the paths inside it.
 */
export function compareFieldPaths(a: readonly string[], b: readonly string[]): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [left, right] = [a[at] as string, b[at] as string];
    if (left === right) continue;
    if (isIndex(left) && isIndex(right)) return Number(left) - Number(right);
    return left < right ? -1 : 1;
  }
  return a.length - b.length;
}

function checked(segments: readonly unknown[], key: string): KeyPath {
  const [record, ...path] = segments;
  if (record === undefined) throw invalid(key, 'it is empty');
  checkLength(segments, key);
  for (const segment of segments) checkSegment(segment, key);
  for (const segment of path) {
    if (typeof segment !== 'number' || (Number.isSafeInteger(segment) && segment >= 0)) continue;
    throw invalid(key, `${segment} is not an index, which is a whole number from 0`);
  }
  return [String(record), ...(path as (string | number)[])];
}

function checkLength({ length }: readonly unknown[], key: string): void {
  if (length > MAX_SEGMENTS) throw invalid(key, `it has over ${MAX_SEGMENTS} segments`);
}

function checkSegment(segment: unknown, key: string): void {
  if (segment === '') throw invalid(key, 'it has an empty segment');
  if (segment === '__proto__') throw invalid(key, '"__proto__" cannot be a key');
  if (typeof segment === 'string' || (typeof segment === 'number' && Number.isFinite(segment)))
    return;
  throw invalid(key, 'its segments must be strings or finite numbers');
}

function parseText(key: string): (string | number)[] {
  const segments: (string | number)[] = [];
  let segment = '';
  /** Whether a segment may begin or continue here; not directly behind an index. */
  let open = true;
  for (let at = 0; at < key.length; at++) {
    const character = key[at] as string;
    if (character === '\\' && /[\\.[\]]/.test(key[at + 1] ?? '')) {
      segment += key[++at];
      open = true;
    } else if (character === '.') {
      if (open) segments.push(segment);
      segment = '';
      open = true;
    } else if (character === '[' && segments.length + segment.length > 0) {
      const end = key.indexOf(']', at);
      const index = key.slice(at + 1, end);
      if (end < 0 || !/^\d+$/.test(index))
        throw invalid(key, 'brackets hold an index, as in friends[0]');
      if (open) segments.push(segment);
      segments.push(Number(index));
      segment = '';
      open = false;
      at = end;
    } else {
      if (!open) throw invalid(key, 'a dot or a bracket has to follow an index');
      segment += character;
    }
  }
  if (open) segments.push(segment);
  return segments;
}

function invalid(key: string, why: string): KeyError {
  const message = `The key "${shortened(key)}" is invalid: ${why}.`;
  return new KeyError('key_invalid', message, { place: key });
}

function shortened(key: string): string {
  return key.length > 80 ? `${key.slice(0, 80)}…` : key;
}
