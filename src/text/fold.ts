/** Letters that Unicode does not take apart, by what people type for them. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss', // of ẞ, which has no capital of its own
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ł: 'l',
  þ: 'th',
  ς: 'σ', // an unfinished word must be the beginning of the whole one
};

/** Accents of Latin, Greek and Cyrillic letters; points of Hebrew; vowel signs of Arabic. */
const MARKS = /[\u0300-\u036f\u0591-\u05bd\u064b-\u065f]/g;

/**
 * 30 marks in a row, and what follows: no word has so many. Sorting them, as `normalize` does, takes time that grows by the square:
 * 20 seconds for 200,000.
 */
const NEEDLESS_MARKS = /(\p{M}{30})\p{M}+/gu;

/**
 * A text without case and accents, to compare by: `'Łódź'` and `'lodz'` are one. Store it in a field of its own and
 * search that; never show it. What a text begins with, its folded form begins with too.
 *
 * Independent of the user's language: `ä` is `a`, not `ae`. Signs of other scripts that change the meaning stay.
 *
 * @param text `undefined` and null count as empty.
 * @example
 * ```ts
 * fold('Crème BRÛLÉE'); // 'creme brulee'
 * ```
 */
export function fold(text: string | null | undefined): string {
  return String(text ?? '')
    .replace(NEEDLESS_MARKS, '$1')
    .normalize('NFKD')
    .replace(MARKS, '')
    .toUpperCase() // ß becomes SS, ı I
    .toLowerCase()
    .replace(/[ßæœøđðłþς]/g, (letter) => LETTERS[letter] as string);
}

/**
 * The distinct words of a text, folded: the items of a field with a `multi` index, for {@link searchWords}. A word is a
 * run of letters, digits and their signs. Scripts without spaces, such as Chinese, need a tokenizer of their own.
 *
 * @param text `undefined` and null count as empty.
 * @returns The words in the order of the text; an empty list if there is none.
 * @example
 * ```ts
 * words('Å to zee, to Å'); // ['a', 'to', 'zee']
 * ```
 */
export function words(text: string | null | undefined): string[] {
  return [...new Set(fold(text).match(/[\p{L}\p{N}\p{M}]+/gu))];
}
