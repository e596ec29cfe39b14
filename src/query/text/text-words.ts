import { fold } from '../../codec/fold-text.ts';
import {
  LONGEST,
  MOST_CHARACTERS,
  MOST_WORDS,
  SOFT_HYPHEN,
  TextKeys,
  textsAt,
} from './text-key.ts';

/** Folded runs that are remembered. */
const REMEMBERED = 20_000;

/** Words that an unfinished one may be cut into. */
const MOST_PIECES = 8;

const RUN = /[\p{L}\p{N}\p{M}](?:\u00ad*[\p{L}\p{N}\p{M}])*/gu;
const ASCII_ONLY = /^[\0-\x7f]*$/;
const ASCII_WORD = /[a-z0-9]+/g;
/** The first half of a letter whose second one was cut off. */
const HALF = /[\ud800-\udbff]$/;
/** Letters of scripts that put no spaces between words. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u;

export interface PlacedWord {
  readonly word: string;
  readonly from: number;
  readonly to: number;
}

/** How words are cut and changed, besides being folded. */
export interface WordRules {
  readonly stop_words: readonly string[];
  readonly stem: Stemmer | undefined;
}

/** How endings are taken off. */
interface Stemmer {
  of(word: string): string;
  /** The stems of the words that an unfinished one may become. */
  begunBy(typed: string): Iterable<string>;
}

/** Takes the words of texts: folded, without stop words, by their stems. */
export class TextWords {
  readonly #stop: ReadonlySet<string>;
  readonly #stem: WordRules['stem'];
  readonly #known = new Map<string, readonly string[]>();

  constructor({ stop_words, stem }: WordRules) {
    this.#stop = new Set(stop_words.flatMap((word) => this.#folded(String(word))));
    this.#stem = stem;
  }

  /** The words of a text in order. */
  of(text: string): string[] {
    return this.#stemmed(this.#cut(text));
  }

  /** Those of a run of letters. */
  readonly ofRun = (run: string): string[] => this.#stemmed(this.#kept(this.#pieces(run)));

  /**
   * What the words at the end of an unfinished text may begin, besides the last one; `[]` where
   * that is nothing. A word without spaces may be cut into several until it is finished: what these
   * make together begins it.
   */
  begunBy(text: string): Begun[] {
    const run = text.match(RUN)?.at(-1) ?? '';
    const stem = this.#stem;
    const most = UNSPACED.test(run) ? MOST_PIECES : 1;
    const pieces = this.#kept(this.#pieces(run)).slice(-most);
    if (!stem && pieces.length < 2) return [];
    const joined = pieces.map((_, at) => pieces.slice(at).join(''));
    return pieces.map((piece, at) => ({
      typed: joined.slice(0, at + 1),
      stems: stem && at === pieces.length - 1 ? [...stem.begunBy(piece)] : [],
    }));
  }

  #cut(text: string): string[] {
    const looked = text.length > MOST_CHARACTERS ? text.slice(0, MOST_CHARACTERS) : text;
    const found = ASCII_ONLY.test(looked)
      ? (looked.toLowerCase().match(ASCII_WORD) ?? [])
      : (looked.match(RUN) ?? []).flatMap((run) => this.#wordsOf(run));
    return this.#kept(found).slice(0, MOST_WORDS);
  }

  /** The same words, each with its place. */
  *places(text: string): Generator<PlacedWord> {
    const looked = text.slice(0, MOST_CHARACTERS);
    for (const { 0: run, index } of looked.matchAll(RUN))
      for (const { piece, from, to } of piecesOf(run))
        for (const word of this.#stemmed(this.#kept(this.#folded(piece))))
          yield { word, from: index + from, to: index + to };
  }

  #kept(words: string[]): string[] {
    const stop = this.#stop;
    if (stop.size === 0 && !words.some(({ length }) => length > LONGEST)) return words;
    const kept: string[] = [];
    for (const word of words) {
      if (stop.has(word)) continue;
      kept.push(word.length > LONGEST ? word.slice(0, LONGEST).replace(HALF, '') : word);
    }
    return kept;
  }

  #stemmed(words: string[]): string[] {
    const stem = this.#stem;
    return stem ? words.map(stem.of) : words;
  }

  #wordsOf(run: string): readonly string[] {
    const known = this.#known.get(run);
    if (known) return known;
    const words = this.#pieces(run);
    if (this.#known.size >= REMEMBERED) this.#known.clear();
    if (run.length <= LONGEST) this.#known.set(run, words);
    return words;
  }

  #pieces(run: string): string[] {
    if (ASCII_ONLY.test(run)) return [run.toLowerCase()];
    return [...piecesOf(run)].flatMap(({ piece }) => this.#folded(piece));
  }

  /** Folding takes some signs apart, such as `½`. */
  #folded(piece: string): string[] {
    return fold(piece).match(RUN) ?? [];
  }
}

/** A part of a run of letters, without soft hyphens, and its place. */
interface Piece {
  readonly piece: string;
  readonly from: number;
  readonly to: number;
}

/** A run of letters as the words it consists of. */
function* piecesOf(run: string): Generator<Piece> {
  const shown = run.replaceAll(SOFT_HYPHEN, '');
  if (!UNSPACED.test(shown)) return yield { piece: shown, from: 0, to: run.length };
  /** Of each character that is shown. */
  const places: number[] = [];
  for (let at = 0; at < run.length && run !== shown; at++)
    if (run[at] !== SOFT_HYPHEN) places.push(at);
  const placeOf = (at: number) => places[at] ?? at;
  for (const { segment, index } of segmented(shown))
    yield { piece: segment, from: placeOf(index), to: placeOf(index + segment.length - 1) + 1 };
}

let segmenter: Intl.Segmenter | undefined;

/** Where the platform cuts no words, each character is one. */
function* segmented(run: string): Generator<{ segment: string; index: number }> {
  if ('Segmenter' in Intl) {
    // The same for all users: the dictionaries of all languages count in each.
    segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
    yield* segmenter.segment(run);
    return;
  }
  let index = 0;
  for (const segment of run) {
    yield { segment, index };
    index += segment.length;
  }
}

/** Tells how the platform cuts words: another version of a browser may do it otherwise. */
export function probeOfWords(): string {
  const texts = [
    '東京都に住んでいる人々',
    '我们在北京大学学习中文',
    'ฉันชอบกินข้าวผัดกับไก่',
    'ភាសាខ្មែរពិរោះ',
    'un\u00adseen',
  ];
  return texts.map((text) => [...piecesOf(text)].map(({ piece }) => piece).join('|')).join();
}

export function textKeyReader(
  paths: readonly (readonly string[])[],
  words: TextWords,
): (document: object) => string {
  let keys: TextKeys | undefined;
  return (document) => {
    keys ??= new TextKeys(words.ofRun);
    return keys.of(paths.map((path) => textsAt(document, path)));
  };
}

/** The other words that a word stands for, by lists of what users wrote. */
export function synonymsOf(
  lists: readonly (readonly string[])[],
  words: TextWords,
): Map<string, readonly string[]> {
  const others = new Map<string, readonly string[]>();
  for (const list of lists) {
    const group = [list].flat().flatMap((word) => words.of(String(word)).slice(0, 1));
    for (const word of group) others.set(word, [...(others.get(word) ?? []), ...group]);
  }
  return others;
}

/** What a word may be the beginning of, or a part of the beginning. */
interface Begun {
  /** As it was typed, or together with the words around it. */
  readonly typed: readonly string[];
  /** Of words whose ending was taken off. */
  readonly stems: readonly string[];
}

/** A part of what a user has typed. */
export interface SearchTerm {
  /** Folded; a phrase has several. */
  readonly words: readonly string[];
  readonly use: 'word' | 'phrase' | 'excluded';
  /** Whether it may be the beginning of a word. */
  readonly isPrefix: boolean;
  readonly begun?: Begun | undefined;
}

/** A phrase in quotes, or what has no spaces; each may be excluded. */
const TERM = /(-?)(?:"([^"]*)"|(\S+))/g;

/**
 * Reads what a user has typed. Nothing in it is an error: a quote that is not closed, or a lone
 * minus, is no sign.
 */
export function parseSearch(text: string, words: TextWords, prefix: boolean): SearchTerm[] {
  const terms: SearchTerm[] = [];
  let ending = '';
  for (const [, minus, phrase, typed = ''] of text.matchAll(TERM)) {
    const found = words.of(phrase ?? typed);
    if (found.length === 0) continue;
    ending = typed;
    if (minus) terms.push({ words: found, use: 'excluded', isPrefix: false });
    else if (phrase !== undefined) terms.push({ words: found, use: 'phrase', isPrefix: false });
    else for (const word of found) terms.push({ words: [word], use: 'word', isPrefix: false });
  }
  const last = terms.at(-1);
  const isOpen = last?.use === 'word' && !/"\s*$/.test(text);
  if (!prefix || !isOpen) return terms;
  const begun = words.begunBy(ending);
  const plain = terms.length - begun.length;
  return terms.map((term, at) => ({
    ...term,
    isPrefix: term === last,
    begun: begun[at - plain],
  }));
}
