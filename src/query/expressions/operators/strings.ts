import { operandInvalid } from '../../query-errors.ts';
import { isRegExp } from '../../value/value-type.ts';
import {
  checkLength,
  type ExpressionOperator,
  indexIn,
  isNullish,
  namedOperands,
  ofArguments,
  ofNamed,
  ofSettings,
  wrongKind,
} from '../operator.ts';

/** The longest text that is made, as on the server. */
const MOST_CHARACTERS = 2 ** 24;

/** Characters that `$trim` removes: white space and NUL, as on the server. */
const WHITE =
  '\0\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a';

const trimming = (atStart: boolean, atEnd: boolean): ExpressionOperator =>
  ofSettings(['input'], [], ['chars'], ({ chars = WHITE }, place) => {
    const removed = new Set(textIn(chars, place));
    return (input) => {
      const characters = [...textIn(input, place)];
      let [from, to] = [0, characters.length];
      while (atStart && from < to && removed.has(characters[from] as string)) from++;
      while (atEnd && from < to && removed.has(characters[to - 1] as string)) to--;
      return characters.slice(from, to).join('');
    };
  });

const replacing = (
  replace: (text: string, find: string, by: string) => string,
): ExpressionOperator =>
  ofNamed(['input', 'find', 'replacement'], [], (place) => ({ input, find, replacement }) => {
    if (isNullish(input) || isNullish(find) || isNullish(replacement)) return null;
    const [text, wanted, by] = [input, find, replacement].map((one) => textIn(one, place)) as [
      string,
      string,
      string,
    ];
    if (text.length * by.length > MOST_CHARACTERS) {
      const found = text.split(wanted).length - 1;
      const length = text.length + found * (by.length - wanted.length);
      checkLength(length, MOST_CHARACTERS, place);
    }
    return replace(text, wanted, by);
  });

const substrBytes = ofArguments(
  3,
  3,
  (place) => (value: unknown, start: unknown, count: unknown) => {
    const bytes = bytesIn(shownAs(value, place), place);
    const from = indexIn(start, place);
    const isRest = Number.isSafeInteger(count) && (count as number) < 0;
    const part = bytes.subarray(from, isRest ? bytes.length : from + indexIn(count, place));
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(part);
    } catch {
      // The decoder refuses a part of a character.
      throw wrongKind(place, 'bounds between characters', start);
    }
  },
);

export const strings = {
  $concat: ofArguments(0, 1000, (place) => (...values: unknown[]) => {
    let text = '';
    for (const value of values) {
      if (isNullish(value)) return null;
      text += textIn(value, place);
      checkLength(text.length, MOST_CHARACTERS, place);
    }
    return text;
  }),
  $toLower: ofArguments(1, 1, (place) => (value: unknown) => shownAs(value, place).toLowerCase()),
  $toUpper: ofArguments(1, 1, (place) => (value: unknown) => shownAs(value, place).toUpperCase()),
  $strLenCP: ofArguments(1, 1, (place) => (value: unknown) => [...textIn(value, place)].length),
  $substrCP: ofArguments(3, 3, (place) => (value: unknown, start: unknown, count: unknown) => {
    const [from, length] = [indexIn(start, place), indexIn(count, place)];
    return [...shownAs(value, place)].slice(from, from + length).join('');
  }),
  $strcasecmp: ofArguments(2, 2, (place) => (a: unknown, b: unknown) => {
    const [one, other] = [shownAs(a, place).toUpperCase(), shownAs(b, place).toUpperCase()];
    return one === other ? 0 : one < other ? -1 : 1;
  }),
  $strLenBytes: ofArguments(1, 1, (place) => (value: unknown) => bytesIn(value, place).length),
  $substrBytes: substrBytes,
  $substr: substrBytes,
  $indexOfBytes: ofArguments(
    2,
    4,
    (place) => (value: unknown, find: unknown, start: unknown, end: unknown) => {
      if (isNullish(value)) return null;
      const bytes = bytesIn(value, place);
      const wanted = bytesIn(find, place);
      const to = end === undefined ? bytes.length : Math.min(indexIn(end, place), bytes.length);
      for (let at = start === undefined ? 0 : indexIn(start, place); at + wanted.length <= to; at++)
        if (wanted.every((byte, offset) => bytes[at + offset] === byte)) return at;
      return -1;
    },
  ),
  $trim: trimming(true, true),
  $ltrim: trimming(true, false),
  $rtrim: trimming(false, true),
  $split: ofArguments(2, 2, (place) => (value: unknown, delimiter: unknown) => {
    if (isNullish(value) || isNullish(delimiter)) return null;
    const by = textIn(delimiter, place);
    if (by === '') throw wrongKind(place, 'a delimiter with characters', by);
    return textIn(value, place).split(by);
  }),
  $indexOfCP: ofArguments(
    2,
    4,
    (place) => (value: unknown, find: unknown, start: unknown, end: unknown) => {
      if (isNullish(value)) return null;
      const characters = [...textIn(value, place)];
      const wanted = [...textIn(find, place)];
      const from = start === undefined ? 0 : indexIn(start, place);
      const to =
        end === undefined ? characters.length : Math.min(indexIn(end, place), characters.length);
      for (let at = from; at + wanted.length <= to; at++)
        if (wanted.every((character, offset) => characters[at + offset] === character)) return at;
      return -1;
    },
  ),
  $replaceOne: replacing((text, find, by) => text.replace(find, () => by)),
  $replaceAll: replacing((text, find, by) => text.replaceAll(find, () => by)),
  $regexMatch: matching(
    (text, pattern) => pattern.test(text),
    () => false,
  ),
  $regexFind: matching(
    (text, pattern) => found(pattern.exec(text)),
    () => null,
  ),
  $regexFindAll: matching(
    (text, { source, flags }) => [...text.matchAll(new RegExp(source, `${flags}g`))].map(found),
    () => [],
  ),
} satisfies Record<string, ExpressionOperator>;

/** `$regexMatch` and its kin. */
function matching(
  find: (text: string, pattern: RegExp) => unknown,
  ofNothing: () => unknown,
): ExpressionOperator {
  return (operand, place, scope) => {
    const given = namedOperands(operand, place, ['input', 'regex'], ['options']);
    // Compiled once: a pattern that differs from document to document is refused.
    const pattern = patternOf(given.regex, given.options, place);
    const input = scope.compile(given.input, `${place}.input`, scope);
    return (document) => {
      const value = input(document);
      return isNullish(value) ? ofNothing() : find(textIn(value, place), pattern);
    };
  };
}

/** A match as the server shows it: with its place in code points, and null for idle groups. */
function found(match: RegExpExecArray | null): unknown {
  if (!match) return null;
  const [text, ...captures] = match;
  const idx = [...match.input.slice(0, match.index)].length;
  return { match: text, idx, captures: captures.map((capture) => capture ?? null) };
}

function patternOf(regex: unknown, options: unknown, place: string): RegExp {
  const flags = options ?? (isRegExp(regex) ? regex.flags : '');
  const source = isRegExp(regex) ? regex.source : regex;
  if (typeof source !== 'string' || source.startsWith('$') || typeof flags !== 'string')
    throw operandInvalid(`${place}.regex`, 'a pattern, or its source', regex);
  try {
    return new RegExp(source, flags.replace(/[gy]/g, ''));
  } catch (cause) {
    throw operandInvalid(`${place}.regex`, 'a pattern of JavaScript', regex, cause);
  }
}

/** @throws {CriteriaError} `operand_invalid` */
function textIn(value: unknown, place: string): string {
  if (typeof value === 'string') return value;
  throw wrongKind(place, 'a string', value);
}

function bytesIn(value: unknown, place: string): Uint8Array {
  return new TextEncoder().encode(textIn(value, place));
}

/** Null is an empty string here; numbers and dates become text. */
function shownAs(value: unknown, place: string): string {
  if (isNullish(value)) return '';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  return value instanceof Date ? value.toISOString() : textIn(value, place);
}
