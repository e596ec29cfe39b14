import { operandInvalid } from '../../query-errors.ts';
import { isRegExp } from '../../value/value-type.ts';
import {
  checkLength,
  type ExpressionOperator,
  isNullish,
  ofArguments,
  ofNamed,
  wrongKind,
} from '../operator.ts';

/** The longest text that is made, as on the server. */
const MOST_CHARACTERS = 2 ** 24;

/** Characters that `$trim` removes: white space and NUL, as on the server. */
const WHITE =
  '\0\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a';

const trimming = (atStart: boolean, atEnd: boolean): ExpressionOperator =>
  ofNamed(['input'], ['chars'], (place) => ({ input, chars }) => {
    if (isNullish(input) || chars === null) return null;
    const characters = [...textIn(input, place)];
    const removed = new Set(chars === undefined ? WHITE : textIn(chars, place));
    let [from, to] = [0, characters.length];
    while (atStart && from < to && removed.has(characters[from] as string)) from++;
    while (atEnd && from < to && removed.has(characters[to - 1] as string)) to--;
    return characters.slice(from, to).join('');
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
  $regexMatch: (operand, place, scope) => {
    const { regex, options } = (operand ?? {}) as { regex?: unknown; options?: unknown };
    // Compiled once: a pattern that differs from document to document is refused.
    const pattern = patternOf(regex, options, place);
    const { regex: _, options: __, ...rest } = operand as object as Record<string, unknown>;
    const match = ofNamed(['input'], [], (at) => ({ input }) => {
      if (isNullish(input)) return false;
      return pattern.test(textIn(input, at));
    });
    return match(rest, place, scope);
  },
} satisfies Record<string, ExpressionOperator>;

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

/** Null is an empty string here; numbers and dates become text. */
function shownAs(value: unknown, place: string): string {
  if (isNullish(value)) return '';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  return value instanceof Date ? value.toISOString() : textIn(value, place);
}

function indexIn(value: unknown, place: string): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw wrongKind(place, 'a whole number from 0', value);
}
