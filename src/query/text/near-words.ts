import { firstWhere } from '../../codec/first-where.ts';
/** How many errors a typed word may have. */
export function errorsIn({ length }: string): number {
  if (length < 4) return 0;
  return length < 8 ? 1 : 2;
}

/**
 * The words of a sorted list that differ from a word by so many errors at most: letters that are
 * missing, too many, wrong or exchanged. Words that begin alike share the work, and a beginning
 * with too many errors is left out as a whole.
 */
export function nearWords(
  words: readonly string[],
  typed: string,
  errors: number,
): Map<string, number> {
  const near = new Map<string, number>();
  const width = typed.length + 1;
  /** By length of the beginning: the errors of each beginning of what was typed. */
  const table: Uint8Array[] = [Uint8Array.from({ length: width }, (_, at) => at)];
  let before = '';
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    let depth = sharedLength(before, word);
    before = word;
    let isOpen = true;
    for (; isOpen && depth < word.length; depth++)
      isOpen = fillRow(table, word, depth + 1, typed) <= errors;
    if (isOpen) {
      const found = table[word.length]?.[width - 1] as number;
      if (found <= errors) near.set(word, found);
    } else {
      // The next that does not begin so.
      before = word.slice(0, depth);
      at = seekBehind(words, before, at) - 1;
    }
  }
  return near;
}

/** @returns the least errors of the row. */
function fillRow(table: Uint8Array[], word: string, depth: number, typed: string): number {
  const width = typed.length + 1;
  table[depth] ??= new Uint8Array(width);
  const row = table[depth] as Uint8Array;
  const above = table[depth - 1] as Uint8Array;
  const code = word.charCodeAt(depth - 1);
  row[0] = depth;
  let least = depth;
  for (let at = 1; at < width; at++) {
    const own = typed.charCodeAt(at - 1);
    let cost = Math.min(
      (above[at] as number) + 1,
      (row[at - 1] as number) + 1,
      (above[at - 1] as number) + (own === code ? 0 : 1),
    );
    const isExchanged =
      depth > 1 &&
      at > 1 &&
      own === word.charCodeAt(depth - 2) &&
      typed.charCodeAt(at - 2) === code;
    if (isExchanged) cost = Math.min(cost, (table[depth - 2]?.[at - 2] as number) + 1);
    row[at] = cost;
    if (cost < least) least = cost;
  }
  return least;
}

function sharedLength(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let at = 0;
  while (at < most && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return at;
}

/** The first word behind all that begin so. */
export function seekBehind(words: readonly string[], beginning: string, from: number): number {
  return firstWhere(from, words.length, (at) => {
    const word = words[at] as string;
    return word >= beginning && !word.startsWith(beginning);
  });
}
