import { isPlainObject } from '../../codec/kinds.ts';

/**
 * What an index keeps of a document's texts, as one string: a line for each path, of words with
 * spaces between. A word that occurs again is there once, with a colon and how many times.
 */
export type TextKey = string;

/** Times of a word in a text that count: more make no difference to a score. */
const MOST_TIMES = 255;

/** Words that are remembered: a hundred thousand texts have about half as many. */
const REMEMBERED = 50_000;

/** Makes keys. Hot path of inserts: a map of words for each text takes three times as long. */
export class TextKeys {
  /** The number of each word. */
  readonly #numbers = new Map<string, number>();
  #words: string[] = [];
  /** By number: how often the word is in the line that had it last, and the number of that. */
  #times: number[] = [];
  #lines: number[] = [];
  #line = 0;

  /** @param texts The words at each path. */
  of(texts: readonly (readonly string[])[]): TextKey {
    return texts
      .map((words) => this.#lineOf(words))
      .join('\n')
      .trimEnd();
  }

  #lineOf(words: readonly string[]): string {
    if (this.#words.length > REMEMBERED) this.#forget();
    const line = ++this.#line;
    const own: number[] = [];
    for (const word of words) {
      const number = this.#numbers.get(word) ?? this.#add(word);
      if (this.#lines[number] === line) (this.#times[number] as number)++;
      else {
        this.#lines[number] = line;
        this.#times[number] = 1;
        own.push(number);
      }
    }
    const tokens = own.map((number) => {
      const times = Math.min(this.#times[number] as number, MOST_TIMES);
      const word = this.#words[number] as string;
      return times > 1 ? `${word}:${times}` : word;
    });
    return tokens.join(' ');
  }

  #add(word: string): number {
    const own = unattached(word);
    const number = this.#words.push(own) - 1;
    this.#numbers.set(own, number);
    return number;
  }

  #forget(): void {
    this.#numbers.clear();
    this.#words = [];
    this.#times = [];
    this.#lines = [];
  }
}

/** A copy that keeps no longer text in memory, which a long part of one does. */
export function unattached(word: string): string {
  return word.length < 13 ? word : ` ${word}`.slice(1);
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
