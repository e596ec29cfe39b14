import type { MarkdownEnv } from 'vitepress';

/**
 * How the search of the site reads words and ranks pages. VitePress copies the text of the
 * first three functions into the page: they use nothing from outside.
 */

/**
 * `save_timeout` and `$inc` are words, and so are their parts. `insertMany` is `insert$many`, too:
 * names stay known when all words are in lower case.
 */
export function wordsOfPage(text: string): string[] {
  const words = text.split(/[^\p{L}\p{N}_$]+/u);
  return words.flatMap((word) => {
    if (/[_$]/.test(word)) return [word, ...word.split(/[_$]+/)];
    return /[a-z][A-Z]/.test(word) ? [word, word.replace(/([a-z])([A-Z])/g, '$1$$$2')] : [word];
  });
}

/** A name that somebody types is found as a whole. Words of every page are no question. */
export function wordsOfQuery(text: string): string[] {
  const words = text.split(/[^\p{L}\p{N}_$]+/u);
  const common =
    /^(?:an?|and|are|by|can|do|does|for|from|how|i|in|is|it|my|of|on|or|the|to|what|when|where|with)$/i;
  const telling = words.filter((word) => !common.test(word));
  const names = words.filter((word) => /[a-z][A-Z]/.test(word));
  const asked = telling.length > 0 ? telling : words;
  return [...asked, ...names.map((name) => name.replace(/([a-z])([A-Z])/g, '$1$$$2'))];
}

/**
 * The beginning of a page comes before its sections, and pages that explain before those of
 * TypeDoc, decisions and results. For a name such as `storage_full` or `BackupError` errors come
 * first, for `save_timeout` the reference.
 */
export function weightOf(
  address: string,
  word: string,
  { titles }: { titles?: readonly string[] } = {},
): number {
  if (/\/(?:api|decisions|benchmarks\/|architecture)/.test(address)) return 0.2;
  const isName = /[a-z]_[a-z]|[a-z]error$/.test(word);
  const isReference = /\/reference\//.test(address);
  // The name counts as itself.
  if (!isReference && /[a-z]\$/.test(word)) return 0.1;
  if (/\/errors\b/.test(address)) return isName ? 4 : 0.12;
  if (isReference && (isName || word.includes('$'))) return 3;
  // `/testing` is about all that `/testing/jest` is about one of.
  if (titles?.length === 0) return /^\/[^/]+$/.test(address.replace(/#.*/, '')) ? 3 : 2;
  return isReference ? 0.8 : 1;
}

/** A page is found by its description and its `keywords` too, words of those who ask. */
export function renderForSearch(
  source: string,
  env: MarkdownEnv,
  md: { render(source: string, env: MarkdownEnv): string },
): string {
  const html = md.render(source, env);
  const { description = '', keywords = '' } = env.frontmatter ?? {};
  const words = [description, keywords, keywords].join(' ');
  return html.replace('</h1>', `</h1><p>${words}</p>`);
}
