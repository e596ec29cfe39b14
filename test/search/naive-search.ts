import { fold } from '../../src/codec/fold-text.ts';
import type { IndexOption } from '../../src/index.ts';
import { english } from '../../src/query/text/stem-english.ts';

/** A text index, and what it says. */
export interface Indexed {
  readonly option: IndexOption;
  readonly paths: readonly string[];
  /** Folded. */
  readonly stops?: readonly string[];
  readonly stems?: boolean;
  readonly synonyms?: readonly (readonly string[])[];
}

/** What a user types, one by one. */
export interface Typed {
  readonly kind: 'word' | 'phrase' | 'not';
  readonly text: string;
}

export interface Rules {
  readonly mode: 'all' | 'any';
  readonly prefix: boolean;
  readonly fuzzy: boolean;
}

const RUN = /[\p{L}\p{N}\p{M}](?:\xad*[\p{L}\p{N}\p{M}])*/gu;
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u;
const LONGEST = 64;
const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

interface Placed {
  readonly word: string;
  readonly from: number;
  readonly to: number;
}

function placedIn(text: string, { stops = [], stems = false }: Omit<Indexed, 'option'>): Placed[] {
  return Array.from(text.matchAll(RUN)).flatMap(({ 0: run, index }) => {
    // Soft hyphens are not seen.
    const shown = [...run].flatMap((letter) => (letter === '\xad' ? [] : letter)).join('');
    const places = [...run.split('').keys()].filter((at) => run[at] !== '\xad');
    const pieces = UNSPACED.test(shown) ? segmenter.segment(shown) : [{ segment: shown, index: 0 }];
    return Array.from(pieces).flatMap(({ segment, index: at }) =>
      (fold(segment).match(RUN) ?? []).flatMap((folded) => {
        if (stops.includes(folded)) return [];
        const word = folded.slice(0, LONGEST);
        const from = index + (places[at] as number);
        const to = index + (places[at + segment.length - 1] as number) + 1;
        return { word: stems ? english.of(word) : word, from, to };
      }),
    );
  });
}

/** The words of a text, found naively. */
export function wordsOf(text: string, indexed: Omit<Indexed, 'option'> = { paths: [] }): string[] {
  return placedIn(text, indexed).map(({ word }) => word);
}

/** The texts of a document that an index has, by path. */
export function textsIn(document: object, { paths }: Indexed): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (
    value: unknown,
    keys: readonly string[],
    at: readonly (string | number)[],
  ): void => {
    const [key, ...below] = keys;
    if (Array.isArray(value))
      for (const [item, one] of value.entries()) visit(one, keys, [...at, item]);
    else if (key === undefined) {
      if (typeof value === 'string') found.set(at.join('.'), value);
    } else if (value && typeof value === 'object' && Object.hasOwn(value, key))
      visit((value as Record<string, unknown>)[key], below, [...at, key]);
  };
  for (const path of paths) visit(document, path.split('.'), []);
  return found;
}

/** Letters wrong, missing, too many or exchanged, one by one. */
export function distance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  const at = (i: number, j: number) => rows[i]?.[j] as number;
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      let least = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1);
      least = Math.min(least, at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, at(i - 2, j - 2) + 1);
      (rows[i] as number[])[j] = least;
    }
  return at(a.length, b.length);
}

/** A search that looks at each document. */
export class NaiveSearch {
  readonly text: string;
  readonly #rules: Rules;
  readonly #indexed: Indexed;
  readonly #words: readonly string[];
  readonly #phrases: readonly (readonly string[])[];
  readonly #excluded: readonly (readonly string[])[];
  /** The last word as it was typed, where it may be unfinished, and the stems that it begins. */
  readonly #begun: readonly string[] = [];
  /** What the platform makes of the end of the text, where that has no spaces. */
  readonly #pieces: readonly string[] = [];

  constructor(terms: readonly Typed[], rules: Rules, indexed: Indexed) {
    const quoted = (text: string) => (/\s/.test(text) ? `"${text}"` : text);
    const written = terms.map(({ kind, text }) => {
      if (kind === 'word') return text;
      return kind === 'phrase' ? `"${text}"` : `-${quoted(text)}`;
    });
    this.text = written.join(' ');
    this.#rules = rules;
    this.#indexed = indexed;
    const of = (kind: Typed['kind']) =>
      terms.flatMap((one) => {
        const words = one.kind === kind ? wordsOf(one.text, indexed) : [];
        return words.length > 0 ? [words] : [];
      });
    this.#words = of('word').flat();
    this.#phrases = of('phrase');
    this.#excluded = of('not');
    const last = terms.findLast(({ text }) => wordsOf(text, indexed).length > 0);
    const isOpen = rules.prefix && last?.kind === 'word' && !this.text.endsWith('"');
    const whole = isOpen && wordsOf(last.text, { ...indexed, stems: false }).at(-1);
    if (whole) this.#begun = indexed.stems ? [whole, ...english.begunBy(whole)] : [whole];
    const run = (isOpen && last.text.match(RUN)?.at(-1)) || '';
    if (UNSPACED.test(run)) this.#pieces = wordsOf(run, { ...indexed, stems: false }).slice(-8);
  }

  matches(document: object): boolean {
    const texts = [...textsIn(document, this.#indexed).values()].map((text) =>
      wordsOf(text, this.#indexed),
    );
    const hasPhrase = (phrase: readonly string[]) =>
      texts.some((words) => words.some((_, at) => phrase.every((one, n) => words[at + n] === one)));
    if (this.#excluded.some(hasPhrase) || !this.#phrases.every(hasPhrase)) return false;
    if (this.#words.length === 0) return this.#phrases.length > 0;
    const all = texts.flat();
    const has = (typed: string, at: number) =>
      all.some((word) => this.#accepts(typed, this.#words.length - 1 - at, word));
    return this.#rules.mode === 'all' ? this.#words.every(has) : this.#words.some(has);
  }

  /** Where the words of the search are, by path. */
  placesIn(document: object): Record<string, [number, number][]> {
    const places: Record<string, [number, number][]> = {};
    for (const [path, text] of textsIn(document, this.#indexed)) {
      const marked = placedIn(text, this.#indexed).filter(
        ({ word, from }, at, all) => this.#isWanted(word) && all[at - 1]?.from !== from,
      );
      if (marked.length > 0) places[path] = marked.map(({ from, to }) => [from, to]);
    }
    return places;
  }

  #isWanted(word: string): boolean {
    const last = this.#words.length - 1;
    return (
      this.#words.some((typed, at) => this.#accepts(typed, last - at, word)) ||
      this.#phrases.some((phrase) => phrase.includes(word))
    );
  }

  /** @param behind How many words were typed behind this one. */
  #accepts(typed: string, behind: number, word: string): boolean {
    if (word === typed) return true;
    const { length } = this.#pieces;
    for (let from = 0; length > 1 && from < length - behind; from++)
      if (word.startsWith(this.#pieces.slice(from).join(''))) return true;
    const { synonyms = [] } = this.#indexed;
    const groups = synonyms.map((group) => group.flatMap((one) => wordsOf(one, this.#indexed)));
    if (groups.some((group) => group.includes(typed) && group.includes(word))) return true;
    const [whole, ...stems] = behind === 0 ? this.#begun : [];
    if (whole && (word.startsWith(typed) || word.startsWith(whole) || stems.includes(word)))
      return true;
    const errors = typed.length < 4 ? 0 : typed.length < 8 ? 1 : 2;
    return this.#rules.fuzzy && errors > 0 && distance(typed, word) <= errors;
  }
}
