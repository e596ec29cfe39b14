import { operandInvalid } from '../../query-errors.ts';
import { compareScalars } from '../../value/compare-values.ts';
import { isDate, isRegExp } from '../../value/value-type.ts';
import {
  checkLength,
  countSteps,
  type ExpressionOperator,
  indexOf,
  integerIn,
  isNullish,
  MOST_ITEMS,
  namedOperands,
  ofArguments,
  ofGiven,
  ofList,
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
  ofSettings(['input'], ['find', 'replacement'], [], ({ find, replacement }, place) => {
    const [wanted, by] = [textIn(find, place), textIn(replacement, place)];
    return (input) => {
      const text = textIn(input, place);
      if (text.length * by.length > MOST_CHARACTERS) {
        const found = text.split(wanted).length - 1;
        const length = text.length + found * (by.length - wanted.length);
        checkLength(length, MOST_CHARACTERS, place);
      }
      return replace(text, wanted, by);
    };
  });

/** Where a text begins in another, by the units that `split` makes. */
const indexing = (split: (text: string) => ArrayLike<unknown>): ExpressionOperator =>
  ofArguments(2, 4, (place, value, find, start, end) => {
    if (isNullish(value)) return null;
    const wanted = Array.from(split(textIn(find, place)));
    return indexOf(split(textIn(value, place)), wanted, start, end, place);
  });

const characters = (text: string): string[] => [...text];
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const substrBytes = ofArguments(3, 3, (place, value, start, count) => {
  const all = bytes(shownAs(value, place));
  const from = integerIn(start, place, 0);
  const length = integerIn(count, place);
  try {
    const part = all.subarray(from, length < 0 ? all.length : from + length);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(part);
  } catch {
    // The decoder refuses a part of a character.
    throw wrongKind(place, 'bounds between characters', start);
  }
});

export const strings = {
  $concat: ofList(0, (values, place) => {
    let text = '';
    for (const value of values) {
      if (isNullish(value)) return null;
      text += textIn(value, place);
      checkLength(text.length, MOST_CHARACTERS, place);
    }
    return text;
  }),
  $toLower: ofArguments(1, 1, (place, value) => shownAs(value, place).toLowerCase()),
  $toUpper: ofArguments(1, 1, (place, value) => shownAs(value, place).toUpperCase()),
  $strcasecmp: ofArguments(2, 2, (place, a, b) =>
    Math.sign(compareScalars(shownAs(a, place).toUpperCase(), shownAs(b, place).toUpperCase())),
  ),
  $strLenCP: ofArguments(1, 1, (place, value) => characters(textIn(value, place)).length),
  $strLenBytes: ofArguments(1, 1, (place, value) => bytes(textIn(value, place)).length),
  $substrCP: ofArguments(3, 3, (place, value, start, count) => {
    const [from, length] = [integerIn(start, place, 0), integerIn(count, place, 0)];
    return characters(shownAs(value, place))
      .slice(from, from + length)
      .join('');
  }),
  $substrBytes: substrBytes,
  $substr: substrBytes,
  $indexOfCP: indexing(characters),
  $indexOfBytes: indexing(bytes),
  $trim: trimming(true, true),
  $ltrim: trimming(true, false),
  $rtrim: trimming(false, true),
  $split: ofGiven(2, 2, (place, value, delimiter) => {
    const by = textIn(delimiter, place);
    if (by === '') throw wrongKind(place, 'a delimiter', by);
    return textIn(value, place).split(by);
  }),
  $replaceOne: replacing((text, find, by) => text.replace(find, () => by)),
  $replaceAll: replacing((text, find, by) => text.replaceAll(find, () => by)),
  $regexMatch: matching(
    (text, pattern) => pattern.test(text),
    () => false,
  ),
  $regexFind: matching(
    (text, pattern) => {
      const match = pattern.exec(text);
      return match && shownMatches([match])[0];
    },
    () => null,
  ),
  $regexFindAll: matching(
    (text, { source, flags }, place) => {
      const matches: RegExpExecArray[] = [];
      for (const match of text.matchAll(new RegExp(source, `${flags}g`)))
        checkLength(matches.push(match), MOST_ITEMS, place);
      return shownMatches(matches);
    },
    () => [],
  ),
} satisfies Record<string, ExpressionOperator>;

/** `$regexMatch` and its kin. */
function matching(
  find: (text: string, pattern: RegExp, place: string) => unknown,
  ofNothing: () => unknown,
): ExpressionOperator {
  return (operand, place, scope) => {
    const given = namedOperands(operand, place, ['input', 'regex'], ['options']);
    // Compiled once: a pattern that differs from document to document is refused.
    const pattern = patternOf(given.regex, given.options, place);
    const input = scope.compile(given.input, `${place}.input`, scope);
    return (document) => {
      const value = input(document);
      return isNullish(value) ? ofNothing() : find(textIn(value, place), pattern, place);
    };
  };
}

/** Matches as the server shows them: with places in code points, and null for idle groups. */
function shownMatches(matches: readonly RegExpExecArray[]): object[] {
  let [idx, from] = [0, 0];
  return matches.map((found) => {
    const [match, ...groups] = found;
    idx += characters(found.input.slice(from, found.index)).length;
    from = found.index;
    return { match, idx, captures: groups.map((group) => group ?? null) };
  });
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
  if (typeof value !== 'string') throw wrongKind(place, 'a string', value);
  countSteps(value.length / 8, place);
  return value;
}

/** Null is an empty string here; numbers and dates become text. */
function shownAs(value: unknown, place: string): string {
  if (isNullish(value)) return '';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  return isDate(value) ? value.toISOString() : textIn(value, place);
}
