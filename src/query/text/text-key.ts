import { isPlainObject } from '../../codec/kinds.ts';

/**
 * What an index keeps of a document's texts, as one string: a line for each path, of words with
 * spaces between. A word that occurs again is there once, with a colon and how many times.
 */
export type TextKey = string;

/** Times of a word in a text that count: more make no difference to a score. */
const MOST_TIMES = 255;

/** @param texts The words at each path. */
export function textKey(texts: readonly (readonly string[])[]): TextKey {
  return texts.map(lineOf).join('\n').trimEnd();
}

function lineOf(words: readonly string[]): string {
  if (words.length === 0) return '';
  const times = new Map<string, number>();
  for (const word of words) times.set(word, (times.get(word) ?? 0) + 1);
  let line = '';
  for (const [word, count] of times) {
    if (line) line += ' ';
    line += count > 1 ? `${word}:${Math.min(count, MOST_TIMES)}` : word;
  }
  return line;
}

/** A word of a line, and how many times it occurs. */
export function readToken(token: string): { readonly word: string; readonly count: number } {
  const at = token.indexOf(':');
  if (at < 0) return { word: token, count: 1 };
  return { word: token.slice(0, at), count: Number(token.slice(at + 1)) };
}

/** A text in a document, and its path there: with the numbers of items of arrays. */
export type TextAt = readonly [text: string, path: string];

/** The texts at a path of a document: strings, also in arrays. */
export function textsAt(value: unknown, keys: readonly string[], found: TextAt[], at = ''): void {
  if (Array.isArray(value)) {
    for (let item = 0; item < value.length; item++)
      textsAt(value[item], keys, found, at ? `${at}.${item}` : `${item}`);
    return;
  }
  const [key, ...below] = keys;
  if (key === undefined) {
    if (typeof value === 'string') found.push([value, at]);
  } else if (isPlainObject(value) && Object.hasOwn(value, key))
    textsAt(value[key], below, found, at ? `${at}.${key}` : key);
}
