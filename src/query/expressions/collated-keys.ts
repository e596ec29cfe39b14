import { LeafList, type Ranked } from '../index/leaf-list.ts';
import { collatorOf } from '../value/collation.ts';
import { valueKey } from '../value/value-key.ts';

/**
 * Makes keys of values, as {@link valueKey} does, that are the same for strings which a collation
 * holds equal: a browser gives no sort keys, so each string counts as the first one equal to it.
 *
 * @returns a function that remembers the strings it has seen.
 */
export function keysIn(collation: string | undefined): (value: unknown) => unknown {
  if (collation === undefined) return (value) => valueKey(value);
  let strings = kept.get(collation);
  if (!strings) {
    const collator = collatorOf(collation);
    strings = { compare: collator.compare, fold: plainFold(collator.resolvedOptions()) };
    kept.set(collation, strings);
  }
  const firsts = new FirstStrings(strings);
  const fold = (text: string) => firsts.of(text);
  return (value) => valueKey(value, fold);
}

/** The strings of a collation. */
interface CollatedStrings {
  readonly compare: (a: string, b: string) => number;
  readonly fold: FoldPlain;
}

/** To make a collator takes longer than most uses. */
const kept = new Map<string, CollatedStrings>();

/** The strings that are the first of those equal to them. */
class FirstStrings {
  readonly #fold: FoldPlain;
  /** By the string, or by what it is folded to. */
  readonly #known = new Map<string, string>();
  readonly #plain: OrderedStrings;
  readonly #others: OrderedStrings;
  /** Not among the plain ones yet: nothing was looked for there since. */
  #waiting: string[] = [];

  constructor({ compare, fold }: CollatedStrings) {
    this.#fold = fold;
    this.#plain = new OrderedStrings(compare);
    this.#others = new OrderedStrings(compare);
  }

  of(text: string): string {
    const folded = this.#fold(text);
    const key = folded ?? text;
    let first = this.#known.get(key);
    if (first !== undefined) return first;
    if (folded !== undefined) {
      first = this.#others.find(text);
      if (first === undefined) this.#waiting.push(text);
    } else {
      for (const one of this.#waiting) this.#plain.find(one, true);
      this.#waiting = [];
      first = this.#plain.find(text) ?? this.#others.find(text, true);
    }
    this.#known.set(key, first ?? text);
    return first ?? text;
  }
}

const FIRST: Ranked = { rank: 0 };

class OrderedStrings {
  readonly #list: LeafList<string, Ranked>;
  readonly #compare: CollatedStrings['compare'];

  constructor(compare: CollatedStrings['compare']) {
    this.#compare = compare;
    this.#list = new LeafList(compare);
  }

  /** The string that is equal to another. @param adds Whether to add that one if there is none. */
  find(text: string, adds = false): string | undefined {
    const list = this.#list;
    const place = list.seek((other) => this.#compare(other, text) > 0);
    const before = list.at(place.number)?.keys[place.at - 1];
    if (before !== undefined && this.#compare(before, text) === 0) return before;
    if (adds && list.length === 0) list.add(text, FIRST);
    else if (adds) list.insert(place, text, FIRST);
    return undefined;
  }
}

/** What a string is folded to, so that plain ones are equal if that is; else `undefined`. */
type FoldPlain = (text: string) => string | undefined;

/**
 * Languages that order the characters of ASCII as the standard does, each by itself. Others have
 * letters of several, which may equal a third: Hungarian `ccs` and `cscs`.
 */
const STANDARD = /^(?:de|en|es|fi|fr|id|it|ja|ko|ms|nl|pl|pt|ru|sv|uk|zh)\b/;

const PLAIN = /^[ -~]*$/;

const ZEROS = /(?<!\d)0+(?=\d)/g;

function plainFold(options: Intl.ResolvedCollatorOptions): FoldPlain {
  const { locale, collation, ignorePunctuation, numeric, sensitivity } = options;
  if (!STANDARD.test(locale) || collation !== 'default' || ignorePunctuation)
    return () => undefined;
  const ignoresCase = sensitivity !== 'variant';
  return (text) => {
    if (!PLAIN.test(text)) return undefined;
    const folded = ignoresCase ? text.toLowerCase() : text;
    return numeric ? folded.replace(ZEROS, '') : folded;
  };
}
