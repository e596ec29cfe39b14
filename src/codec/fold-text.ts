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

/**
 * Accents of Latin, Greek and Cyrillic letters; points of Hebrew; vowel signs of Arabic.
 * docs/decisions/029-text-search.md says why no other signs.
 */
const MARKS = /[\u0300-\u036f\u0591-\u05bd\u064b-\u065f]/g;

/**
 * 30 marks in a row, and what follows: no word has so many. Sorting them, as `normalize` does,
 * takes time that grows by the square: 20 seconds for 200,000.
 */
const NEEDLESS_MARKS = /(\p{M}{30})\p{M}+/gu;

/**
 * A text without case and accents, to compare by: `'Łódź'` and `'lodz'` are one. Store it in a
 * field of its own and search that; never show it. What a text begins with, its folded form begins
 * with too.
 *
 * Independent of the user's language: `ä` is `a`, not `ae`. Signs of other scripts that change the
 * meaning stay.
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
