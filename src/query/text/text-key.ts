import { isPlainObject } from '../../codec/kinds.ts';

/**
 * What an index keeps of a document's texts, as one string: a line for each path, of words with
 * spaces between. A word that occurs again is there once, with a colon and how many times.
 */
export type TextKey = string;

/** Times of a word in a text that count: more make no difference to a score. */
const MOST_TIMES = 255;

/** Words of a document that are indexed at most, and characters that are looked at. */
export const MOST_WORDS = 20_000;
export const MOST_CHARACTERS = 400_000;
/** Characters of a word that count: what is longer is no word. */
export const LONGEST = 64;

/** Runs that are remembered, and their characters: most texts of a collection have the same. */
const MOST_RUNS = 50_000;
const MOST_UNITS = 2 ** 19;
/** Two or three places for each run. */
const SLOT_BITS = 17;
const SLOTS = 2 ** SLOT_BITS;

const LETTER = 1;
const OTHER = 2;
/** What is within a word and not seen: a soft hyphen. */
const HIDDEN = 3;
export const SOFT_HYPHEN = '\u00ad';
/** What a character is, by its code; 0 where nobody has asked yet, and for halves of letters. */
const kinds = new Uint8Array(2 ** 16);
kinds[SOFT_HYPHEN.charCodeAt(0)] = HIDDEN;

function kindOf(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  const isHalf = (unit & 0xf800) === 0xd800;
  const point = text.codePointAt((unit & 0xfc00) === 0xdc00 && at > 0 ? at - 1 : at) as number;
  const isPair = point > 0xffff;
  if (isHalf && !isPair) return OTHER;
  const kind = /[\p{L}\p{N}\p{M}]/u.test(String.fromCodePoint(point)) ? LETTER : OTHER;
  if (!isHalf) kinds[unit] = kind;
  return kind;
}

/**
 * Makes keys. Hot path of inserts: runs of letters are looked up where they stand, in a table of
 * runs that were there before, so that no string is made of each. A string and a map take three
 * times as long.
 */
export class TextKeys {
  readonly #wordsOf: (run: string) => readonly string[];
  /** The number of each word. */
  readonly #numbers = new Map<string, number>();
  #words: string[] = [];
  /** By number: how often the word is in the line that had it last, and the number of that. */
  #times: number[] = [];
  #lines: number[] = [];
  #line = 0;
  /** The numbers of the words of this line, and how many words this document may have still. */
  #own: number[] = [];
  #left = 0;
  /** By slot of the table: where the characters of a run are, how many, and its hash. */
  readonly #starts = new Int32Array(SLOTS);
  readonly #sizes = new Uint8Array(SLOTS);
  readonly #hashes = new Int32Array(SLOTS);
  /** The number of its word; -1 where it is another number of words than one. */
  readonly #firsts = new Int32Array(SLOTS);
  readonly #several = new Map<number, readonly number[]>();
  readonly #units = new Uint16Array(MOST_UNITS);
  #unitCount = 0;
  #runCount = 0;
  /** The characters of the run that is being read, and where it begins. */
  readonly #run = new Uint16Array(LONGEST);
  #start = 0;

  /** @param wordsOf The words of a run of letters. */
  constructor(wordsOf: (run: string) => readonly string[]) {
    this.#wordsOf = wordsOf;
  }

  /** @param texts Those at each path. */
  of(texts: readonly (readonly TextAt[])[]): TextKey {
    this.#left = MOST_WORDS;
    return texts
      .map((some) => this.#lineOf(some))
      .join('\n')
      .trimEnd();
  }

  #lineOf(texts: readonly TextAt[]): string {
    if (this.#words.length > MOST_RUNS || this.#runCount > MOST_RUNS) this.#forget();
    this.#line++;
    this.#own = [];
    for (const [text] of texts) this.#read(text);
    const tokens = this.#own.map((number) => {
      const times = Math.min(this.#times[number] as number, MOST_TIMES);
      const word = this.#words[number] as string;
      return times > 1 ? `${word}:${times}` : word;
    });
    return tokens.join(' ');
  }

  #read(text: string): void {
    const length = Math.min(text.length, MOST_CHARACTERS);
    const run = this.#run;
    let [size, hash] = [0, 0];
    for (let at = 0; at < length; at++) {
      const unit = text.charCodeAt(at);
      const kind = kinds[unit] || kindOf(text, at);
      if (kind === LETTER) {
        if (size === 0) this.#start = at;
        // Behind its end nothing is written.
        run[size++] = unit;
        hash = Math.imul(hash ^ unit, 0x9e3779b1);
      } else if (kind === OTHER && size > 0) {
        this.#take(text, at, size, hash);
        size = hash = 0;
      }
    }
    if (size > 0) this.#take(text, length, size, hash);
  }

  /** Counts the words of a run that ends at a place. */
  #take(text: string, end: number, size: number, hash: number): void {
    let slot = hash >>> (32 - SLOT_BITS);
    for (; size <= LONGEST && this.#sizes[slot] !== 0; slot = (slot + 1) % SLOTS) {
      if (this.#hashes[slot] !== hash || !this.#isAt(slot, size)) continue;
      const first = this.#firsts[slot] as number;
      if (first >= 0) this.#count(first);
      else for (const number of this.#several.get(slot) as readonly number[]) this.#count(number);
      return;
    }
    const words = this.#wordsOf(text.slice(this.#start, end)).slice(0, MOST_WORDS);
    const numbers = words.map((word) => this.#numbers.get(word) ?? this.#add(word));
    for (const number of numbers) this.#count(number);
    if (size > LONGEST || this.#runCount > MOST_RUNS || this.#unitCount + size > MOST_UNITS) return;
    this.#runCount++;
    this.#starts[slot] = this.#unitCount;
    this.#sizes[slot] = size;
    this.#hashes[slot] = hash;
    this.#firsts[slot] = numbers.length === 1 ? (numbers[0] as number) : -1;
    if (numbers.length !== 1) this.#several.set(slot, numbers);
    this.#units.set(this.#run.subarray(0, size), this.#unitCount);
    this.#unitCount += size;
  }

  #isAt(slot: number, size: number): boolean {
    if (this.#sizes[slot] !== size) return false;
    const start = this.#starts[slot] as number;
    for (let at = 0; at < size; at++) if (this.#units[start + at] !== this.#run[at]) return false;
    return true;
  }

  #count(number: number): void {
    if (this.#left === 0) return;
    this.#left--;
    if (this.#lines[number] === this.#line) (this.#times[number] as number)++;
    else {
      this.#lines[number] = this.#line;
      this.#times[number] = 1;
      this.#own.push(number);
    }
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
    this.#sizes.fill(0);
    this.#several.clear();
    this.#unitCount = this.#runCount = 0;
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
export function textsAt(
  value: unknown,
  keys: readonly string[],
  found: TextAt[] = [],
  at = '',
): TextAt[] {
  const [key, ...below] = keys;
  if (Array.isArray(value))
    for (const [item, one] of value.entries())
      textsAt(one, keys, found, at ? `${at}.${item}` : `${item}`);
  else if (key === undefined) {
    if (typeof value === 'string') found.push([value, at]);
  } else if (isPlainObject(value) && Object.hasOwn(value, key))
    textsAt(value[key], below, found, at ? `${at}.${key}` : key);
  return found;
}
