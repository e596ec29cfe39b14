/**
 * Safe search by what users type.
 *
 * @packageDocumentation
 */
import { fold } from '../codec/fold-text.ts';

export { fold } from '../codec/fold-text.ts';

/**
 * Criteria of one field that strings are to fulfil. An empty text is `{ $nin: [] }`: every
 * document.
 */
export type TextCriteria = { $regex: RegExp } | { $nin: never[] };

/** How {@link contains} and {@link startsWith} compare. */
export interface TextOptions {
  /**
   * `true`: `A` and `a` are one. Such a search uses no index; one of a folded field does. Default
   * `false`.
   */
  readonly ignore_case?: boolean;
}

/** Longest source of a pattern that criteria take. */
const LONGEST = 1000;
/** The most words that are searched for. */
const MOST_WORDS = 20;

/**
 * Criteria of a field whose text contains what a user has typed. Nothing in it is a pattern: `a.b*`
 * finds `a.b*`.
 *
 * An empty text finds all documents. Of a very long one only the beginning counts, at least 166
 * characters.
 *
 * @example
 * ```ts
 * await users.filter({ name: contains(input.value, { ignore_case: true }) });
 * ```
 */
export function contains(text: string, options?: TextOptions): TextCriteria {
  return literal('', text, options);
}

/**
 * Criteria of a field whose text begins with what a user has typed, as {@link contains}. Uses an
 * index of the field, unless it ignores case; with `|` in the text, it looks at each document.
 *
 * @example
 * ```ts
 * await users.filter({ folded_name: startsWith(fold(input.value)) });
 * ```
 */
export function startsWith(text: string, options?: TextOptions): TextCriteria {
  return literal('^', text, options);
}

/** Criteria for documents; without words `{}`: every document. */
export type WordCriteria<Path extends string> = {
  $and?: { [P in Path]: TextCriteria }[];
};

/**
 * Criteria for documents with all of the words that a user has typed; each may be unfinished. Case
 * and accents do not matter. Uses a `multi` index of the field, which holds the {@link words} of
 * each document.
 *
 * Without a word, as for an empty text, it finds all documents. Only the first 20 words count.
 *
 * @param path The path of the field with the words; TypeScript does not check it.
 * @param text What was typed.
 * @example
 * ```ts
 * await notes.filter(searchWords('words', 'creme bru')); // { words: ['creme', 'brulee'], … }
 * ```
 */
export function searchWords<Path extends string>(path: Path, text: string): WordCriteria<Path> {
  const typed = words(text).slice(0, MOST_WORDS);
  const $and = typed.map((word) => ({ [path]: startsWith(word) }));
  return (typed.length > 0 ? { $and } : {}) as WordCriteria<Path>;
}

function literal(start: string, text: string, options: TextOptions | undefined): TextCriteria {
  const typed = String(text ?? '').slice(0, LONGEST);
  if (typed === '') return { $nin: [] };
  const escaped = typed.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const $regex = new RegExp(start + escaped, options?.ignore_case ? 'i' : '');
  // The source has line ends as escapes of up to six characters.
  if ($regex.source.length <= LONGEST) return { $regex };
  return literal(start, typed.slice(0, typed.length / 2), options);
}

/**
 * The distinct words of a text, folded: the items of a field with a `multi` index, for
 * {@link searchWords}. A word is a run of letters, digits and their signs. Scripts without spaces,
 * such as Chinese, need a tokenizer of their own.
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
