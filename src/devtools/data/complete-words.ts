import { h } from '../views/dom.ts';

/** Operators of criteria, in the order of the reference. */
export const OPERATORS: readonly string[] =
  `$eq $ne $gt $gte $lt $lte $in $nin $exists $type $regex $options $size $all $elemMatch $mod
  $bitsAllSet $bitsAnySet $bitsAllClear $bitsAnyClear $not $and $or $nor $expr $some $none $every
  $comment`.split(/\s+/);

/** The word at the end of a text, where a key may stand. */
const LAST_WORD = /(?<=^|[{[(,:\s]|["'](?=[\w$]))[$\w.]+$/;
const MOST = 50;

/**
 * Offers paths and operators for the last word of an input, from a list of the browser: each entry
 * is the whole text, as such a list replaces all of it.
 *
 * @param words What may stand there now.
 */
export function completeWords(
  input: HTMLInputElement,
  id: string,
  words: () => readonly string[],
): HTMLElement {
  const list = h('datalist', { id });
  input.setAttribute('list', id);
  input.addEventListener('input', () => {
    const { value } = input;
    const [word] = value.match(LAST_WORD) ?? [];
    const fitting = word ? words().filter((each) => each !== word && each.startsWith(word)) : [];
    const before = value.slice(0, value.length - (word?.length ?? 0));
    list.replaceChildren(
      ...fitting
        .slice(0, MOST)
        .map((each) => h('option', { value: before + asKey(each, before) }, each)),
    );
  });
  return list;
}

/** A path is quoted, unless a quote has been typed. */
const asKey = (word: string, before: string): string =>
  /^[$\w]+$/.test(word) || /["']$/.test(before) ? word : `'${word}'`;
