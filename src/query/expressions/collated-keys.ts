import { LeafList, type Ranked } from '../index/leaf-list.ts';
import * as bracket from '../value/bracket.ts';
import { collations } from '../value/collation.ts';
import { bracketOf } from '../value/value-type.ts';

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
    const collator = collations().collatorOf(collation);
    strings = { compare: collator.compare, fold: plainFold(collator.resolvedOptions()) };
    kept.set(collation, strings);
  }
  const fold = firstStrings(strings);
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
function firstStrings({ compare, fold }: CollatedStrings) {
  /** By the string, or by what it is folded to. */
  const known = new Map<string, string>();
  /** Not among the plain ones yet: nothing was looked for there since. */
  let waiting: string[] = [];
  const plain = orderedStrings(compare);
  const others = orderedStrings(compare);

  return (text: string): string => {
    const folded = fold(text);
    const key = folded ?? text;
    let first = known.get(key);
    if (first !== undefined) return first;
    if (folded !== undefined) {
      first = others(text);
      if (first === undefined) waiting.push(text);
    } else {
      for (const one of waiting) plain(one, true);
      waiting = [];
      first = plain(text) ?? others(text, true);
    }
    known.set(key, first ?? text);
    return first ?? text;
  };
}

const FIRST: Ranked = { rank: 0 };

function orderedStrings(compare: CollatedStrings['compare']) {
  const strings = new LeafList(compare);

  /** The string that is equal to another. @param adds Whether to add that one if there is none. */
  return (text: string, adds = false): string | undefined => {
    const place = strings.seek((other) => compare(other, text) > 0);
    const before = strings.at(place.number)?.keys[place.at - 1];
    if (before !== undefined && compare(before, text) === 0) return before;
    if (adds && strings.length === 0) strings.add(text, FIRST);
    else if (adds) strings.insert(place, text, FIRST);
    return undefined;
  };
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

/**
 * A key of a Map that is the same exactly for values that `compareValues` holds equal: a scalar by
 * itself, others by a text that begins with NUL. A Blob, key or handle is equal to itself
 * alone.
 *
 * @param fold Makes strings the same that count as equal.
 */
export function valueKey(value: unknown, fold?: FoldStrings): unknown {
  switch (typeof value) {
    case 'string': {
      const text = fold ? fold(value) : value;
      return text.charCodeAt(0) === 0 ? `\0${text}` : text;
    }
    case 'number':
      return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value) : value;
    case 'bigint':
      return Number.isSafeInteger(Number(value)) ? Number(value) : value;
    case 'object':
      return value === null ? value : `\0${textOf(value, fold)}`;
    default:
      return value;
  }
}

type FoldStrings = (text: string) => string;

const blobs = new WeakMap<object, number>();
let lastBlob = 0;

/**
 * A text of a value within others: no text is the beginning of another one's. Scalars come first,
 * as groups by several of them are frequent.
 */
function textOf(value: unknown, fold?: FoldStrings): string {
  if (typeof value === 'string') {
    const text = fold ? fold(value) : value;
    return `s${text.length}:${text}`;
  }
  if (typeof value === 'number' || typeof value === 'bigint') return `n${valueKey(value)};`;
  if (value instanceof Date) return dateText(value.getTime());
  const kind = bracketOf(value);
  let text = String.fromCharCode(65 + kind);
  switch (kind) {
    case bracket.date:
      return dateText((value as Date).getTime());
    case bracket.array:
    case bracket.set:
      for (const item of value as Iterable<unknown>) text += textOf(item, fold);
      break;
    case bracket.object:
      for (const key of Object.keys(value as object))
        text += textOf(key) + textOf((value as Record<string, unknown>)[key], fold);
      break;
    case bracket.map:
      for (const [key, item] of value as Map<unknown, unknown>)
        text += textOf(key, fold) + textOf(item, fold);
      break;
    case bracket.binary:
      text += Object.prototype.toString.call(value) + bytesOf(value as ArrayBuffer);
      break;
    case bracket.blob:
    case bracket.other:
      if (!blobs.has(value as object)) blobs.set(value as object, ++lastBlob);
      text += blobs.get(value as object);
      break;
    default:
      text += JSON.stringify(String(value));
  }
  return `${text};`;
}

/** Its bits as characters: digits would take three times as long. */
function dateText(time: number): string {
  const high = Math.floor(time / 2 ** 32);
  return Number.isNaN(time)
    ? 'D'
    : String.fromCharCode(100, time & 0xffff, (time >>> 16) & 0xffff, high & 0xffff, high >>> 16);
}

function bytesOf(value: ArrayBuffer | ArrayBufferView): Uint8Array {
  const { buffer = value as ArrayBuffer, byteOffset = 0 } = value as Partial<ArrayBufferView>;
  return new Uint8Array(buffer, byteOffset, value.byteLength);
}
