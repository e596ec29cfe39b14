/**
 * How the search of the site reads words and ranks pages. VitePress copies the text of these
 * functions into the page: they use nothing from outside.
 */

/** `save_timeout` and `$inc` are words, and so are their parts. */
export function wordsOfPage(text: string): string[] {
  const words = text.split(/[^\p{L}\p{N}_$]+/u);
  return words.flatMap((word) => (/[_$]/.test(word) ? [word, ...word.split(/[_$]+/)] : [word]));
}

/** A name that somebody types is found as a whole. */
export function wordsOfQuery(text: string): string[] {
  return text.split(/[^\p{L}\p{N}_$]+/u);
}

/**
 * Pages that explain come before those of TypeDoc, decisions and results; for a name such as
 * `storage_full`, errors come first.
 */
export function weightOf(address: string, word: string): number {
  if (/\/errors\b/.test(address)) return /[a-z]_[a-z]/.test(word) ? 6 : 2;
  if (/\/reference\//.test(address)) return 3;
  return /\/(?:api|decisions|benchmarks|architecture)\b/.test(address) ? 0.2 : 1;
}
