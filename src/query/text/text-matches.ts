import type { Ranked } from '../index/leaf-list.ts';
import { errorsIn, nearWords } from './near-words.ts';
import type { EntryColumns, Postings } from './postings.ts';
import type { Run, TextRuns } from './text-runs.ts';
import type { SearchTerm } from './text-words.ts';

/** Words that one typed word may stand for, and entries of all but the typed ones. */
const MOST_VARIANTS = 10_000;
const MOST_ENTRIES = 2_000_000;

/**
 * BM25+, as MiniSearch has it: how soon more of a word counts no more, how much a long text counts
 * less, and what a word counts at least.
 */
const K = 1.2;
const B = 0.7;
const LEAST = 0.5;

/** How much a word counts where only its beginning, or something else, was typed. */
const PREFIX = 0.375;
const FUZZY = 0.45;

/** A word of the index that a typed one stands for. */
interface Variant {
  readonly word: string;
  /** What it counts at each path. */
  readonly factors: Float64Array;
}

interface ExpandedTerm {
  readonly word: string;
  readonly use: SearchTerm['use'];
  readonly variants: readonly Variant[];
  /** Entries in all postings. */
  readonly entries: number;
  readonly isRequired: boolean;
}

/** What a search finds in the postings. */
export interface TextMatches<E extends Ranked> {
  readonly terms: readonly ExpandedTerm[];
  readonly scores: readonly RunScores<E>[];
  /** Whether words were left out. */
  readonly truncated: boolean;
}

export interface RunScores<E extends Ranked> {
  readonly run: Run<E>;
  readonly rows: readonly number[];
  /** Rows that would match, but have gone. */
  readonly gone: readonly number[];
  /** By row. */
  readonly scores: Float64Array;
}

interface SearchedTexts<E extends Ranked> {
  readonly runs: TextRuns<E>;
  /** Of each path. */
  readonly weights: readonly number[];
  /** The other words that a word stands for. */
  readonly synonyms: ReadonlyMap<string, readonly string[]>;
}

/**
 * Finds the documents whose words match, in slices; changes may come between. Phrases are only
 * known to have their words.
 */
export function* matchTexts<E extends Ranked>(
  { runs: texts, weights, synonyms }: SearchedTexts<E>,
  terms: readonly SearchTerm[],
  { mode, fuzzy }: { readonly mode: 'all' | 'any'; readonly fuzzy: boolean },
): Generator<void, TextMatches<E>> {
  const runs = texts.current();
  const typed = terms.reduce((count, { words }) => count + words.length, 0);
  const expansion = new Expansion(synonyms, runs, weights, MOST_ENTRIES / typed);
  const expanded: ExpandedTerm[] = [];
  for (const { words, use, isPrefix, begun } of terms) {
    // Of a phrase that is excluded, the documents tell.
    if (use === 'excluded' && words.length > 1) continue;
    const isRequired = use === 'phrase' || (use === 'word' && mode === 'all');
    for (const word of words) {
      expanded.push(expansion.term(word, { use, isRequired, isPrefix, begun, fuzzy }));
      yield;
    }
  }
  const required = expanded.filter((one) => one.isRequired).sort((a, b) => a.entries - b.entries);
  const optional = expanded.filter(({ use, isRequired }) => use === 'word' && !isRequired);
  const excluded = expanded.filter(({ use }) => use === 'excluded');
  const averages = averagesOf(runs);
  const scores: RunScores<E>[] = [];
  for (const run of runs) {
    const scoring = new Scoring(run.postings, averages);
    for (const term of required) yield* scoring.requireAny([term]);
    if (optional.length > 0) yield* scoring.requireAny(optional);
    scoring.exclude(excluded);
    scores.push({ run, ...scoring.rows(), scores: scoring.scores });
  }
  return { terms: expanded, scores, truncated: expansion.truncated };
}

/** Average number of words at each path. */
function averagesOf(runs: readonly Run<Ranked>[]): Float64Array {
  const paths = runs[0]?.postings.pathCount ?? 0;
  const averages = new Float64Array(paths);
  let count = 0;
  for (const { postings } of runs) {
    count += postings.alive;
    postings.totals.forEach((total, path) => {
      (averages[path] as number) += total;
    });
  }
  return averages.map((total) => total / Math.max(1, count) || 1);
}

interface TermRules
  extends Pick<ExpandedTerm, 'use' | 'isRequired'>,
    Pick<SearchTerm, 'isPrefix' | 'begun'> {
  readonly fuzzy: boolean;
}

/** Finds the words of the index that typed ones stand for. */
class Expansion {
  truncated = false;
  readonly #runs: readonly Run<Ranked>[];
  readonly #count: number;
  readonly #synonyms: ReadonlyMap<string, readonly string[]>;
  readonly #weights: readonly number[];
  /** Entries of what one typed word stands for, besides its own. */
  readonly #most: number;

  constructor(
    synonyms: SearchedTexts<Ranked>['synonyms'],
    runs: readonly Run<Ranked>[],
    weights: readonly number[],
    most: number,
  ) {
    this.#weights = weights;
    this.#most = most;
    this.#runs = runs;
    this.#count = runs.reduce((sum, { postings }) => sum + postings.alive, 0);
    this.#synonyms = synonyms;
  }

  term(word: string, { use, isRequired, isPrefix, begun, fuzzy }: TermRules): ExpandedTerm {
    const weights = new Map<string, number>([[word, 1]]);
    if (use === 'word') {
      for (const stem of begun?.stems ?? []) if (stem !== word) weights.set(stem, PREFIX);
      for (const other of this.#synonyms.get(word) ?? []) weights.set(other, 1);
      const errors = fuzzy ? errorsIn(word) : 0;
      for (const { postings } of this.#runs) {
        if (isPrefix) addBeginnings(postings, word, weights);
        for (const typed of begun?.typed ?? []) addBeginnings(postings, typed, weights);
        if (errors > 0) addNear(postings.words, word, errors, weights);
      }
    }
    const variants: Variant[] = [];
    let entries = 0;
    /** Of other words than the typed one, which always counts, as does the nearest. */
    let guessed = 0;
    for (const [variant, weight] of this.#cut(word, weights)) {
      const documents = this.#documentsWith(variant);
      const own = documents.reduce((sum, count) => sum + count);
      if (own === 0) continue;
      if (guessed > 0 && guessed + own > this.#most) {
        this.truncated = true;
        break;
      }
      if (variant !== word) guessed += own;
      entries += own;
      const factors = documents.map((count, path) => {
        const idf = Math.log(1 + (this.#count - count + 0.5) / (count + 0.5));
        return weight * (this.#weights[path] as number) * idf;
      });
      variants.push({ word: variant, factors });
    }
    return { word, use, variants, entries, isRequired };
  }

  /** At each path. */
  #documentsWith(word: string): Float64Array {
    const documents = new Float64Array(this.#weights.length);
    for (const { postings } of this.#runs) {
      const at = postings.find(word);
      if (at < 0) continue;
      const own = postings.documentsWith(at);
      for (let path = 0; path < own.length; path++)
        (documents[path] as number) += own[path] as number;
    }
    return documents;
  }

  /** The nearest first, behind the typed one. */
  #cut(typed: string, weights: ReadonlyMap<string, number>): (readonly [string, number])[] {
    const sorted = [...weights].sort(
      ([a, weight], [b, other]) =>
        Number(b === typed) - Number(a === typed) || other - weight || (a < b ? -1 : 1),
    );
    if (sorted.length > MOST_VARIANTS) {
      this.truncated = true;
      sorted.length = MOST_VARIANTS;
    }
    return sorted;
  }
}

function addBeginnings(postings: Postings, typed: string, weights: Map<string, number>): void {
  const [from, to] = postings.beginningWith(typed);
  for (let at = from; at < to; at++) {
    const word = postings.words[at] as string;
    const added = word.length - typed.length;
    if (added > 0 || !weights.has(word))
      weights.set(word, (PREFIX * word.length) / (word.length + 0.3 * added));
  }
}

function addNear(
  words: readonly string[],
  typed: string,
  errors: number,
  weights: Map<string, number>,
): void {
  for (const [word, distance] of nearWords(words, typed, errors))
    if (!weights.has(word)) weights.set(word, (FUZZY * word.length) / (word.length + distance));
}

/** Marks rows that do not match. */
const OUT = 0xffff;

/** Entries that are scored, or matches that are sorted, before a search yields: a millisecond. */
const SLICE = 32_768;

/** Scores the rows of a run, term by term. */
class Scoring {
  readonly scores: Float64Array;
  readonly #postings: Postings;
  /** One divided by the average length of each path. */
  readonly #shares: Float64Array;
  /** How many of the terms so far a row matches; only the rows that match all count. */
  readonly #seen: Uint16Array;
  #rows: number[] = [];
  #step = 0;

  constructor(postings: Postings, averages: Float64Array) {
    this.#postings = postings;
    this.#shares = averages.map((length) => 1 / length);
    this.scores = new Float64Array(postings.size);
    this.#seen = new Uint16Array(postings.size);
  }

  /** Those that match. */
  rows(): Pick<RunScores<Ranked>, 'rows' | 'gone'> {
    const { dead, deadCount } = this.#postings;
    const gone = deadCount > 0 ? this.#rows.filter((row) => dead[row]) : [];
    return { rows: gone.length > 0 ? this.#rows.filter((row) => !dead[row]) : this.#rows, gone };
  }

  /** Keeps the rows that have a word of any of the terms; those with more of them count more. */
  *requireAny(terms: readonly ExpandedTerm[]): Generator<void> {
    const matched = terms.length > 1 ? new MatchedTerms(this.scores.length) : undefined;
    let entries = 0;
    for (const [term, { variants }] of terms.entries()) {
      for (const variant of variants) {
        entries += this.#add(variant, matched?.of(term + 1));
        if (entries < SLICE) continue;
        entries = 0;
        yield;
      }
      yield;
    }
    if (matched) for (const row of this.#rows) (this.scores[row] as number) *= matched.count(row);
    this.#step++;
    this.#keep(this.#step);
  }

  exclude(terms: readonly ExpandedTerm[]): void {
    for (const { word } of terms) {
      const { rows, count } = this.#entriesOf(word);
      for (let at = 0; at < count; at++) this.#seen[rows[at] as number] = OUT;
    }
    if (terms.length > 0) this.#keep(this.#step);
  }

  /** Keeps the rows that have come so far. */
  #keep(step: number): void {
    this.#rows = this.#rows.filter((row) => this.#seen[row] === step);
  }

  #entriesOf(word: string): EntryColumns {
    const place = this.#postings.find(word);
    return place < 0 ? NONE : this.#postings.list(place);
  }

  /** @returns how many entries it has. */
  #add({ word, factors }: Variant, matched?: MatchedTerms): number {
    const { rows, paths, times, count } = this.#entriesOf(word);
    const seen = this.#seen;
    const step = this.#step;
    const isFirst = step === 0;
    const { lengths, pathCount } = this.#postings;
    for (let at = 0; at < count; at++) {
      const row = rows[at] as number;
      const state = seen[row] as number;
      if (state === step) {
        if (isFirst) this.#rows.push(row);
        seen[row] = step + 1;
      } else if (state !== step + 1) continue;
      matched?.note(row);
      const path = pathCount > 1 ? (paths[at] as number) : 0;
      const often = times[at] as number;
      const length = (lengths[row * pathCount + path] as number) * (this.#shares[path] as number);
      const frequency = LEAST + (often * (K + 1)) / (often + K * (1 - B + B * length));
      (this.scores[row] as number) += (factors[path] as number) * frequency;
    }
    return count;
  }
}

/** Counts the terms that a row matches. */
class MatchedTerms {
  readonly #counts: Uint16Array;
  /** The last one that it matches. */
  readonly #last: Uint16Array;
  #term = 0;

  constructor(rows: number) {
    this.#counts = new Uint16Array(rows);
    this.#last = new Uint16Array(rows);
  }

  /** What is noted from now on matches this term. */
  of(term: number): this {
    this.#term = term;
    return this;
  }

  note(row: number): void {
    if (this.#last[row] === this.#term) return;
    this.#last[row] = this.#term;
    (this.#counts[row] as number)++;
  }

  count(row: number): number {
    return this.#counts[row] as number;
  }
}

/** The entries of a word that is not there. */
const NONE: EntryColumns = {
  ...{ rows: new Uint32Array(), paths: new Uint8Array(), times: new Uint8Array() },
  count: 0,
};

export interface Scored<E extends Ranked> {
  readonly run: Run<E>;
  readonly row: number;
  readonly score: number;
}

/** Where a page ends. */
export interface ScoredEnd {
  readonly score: number;
  readonly rank: number;
}

/** Matches by descending score, then by rank, in a heap: only the wanted ones are taken. */
export class BestFirst<E extends Ranked> {
  readonly #scores: Float64Array;
  readonly #ranks: Float64Array;
  readonly #rows: Uint32Array;
  readonly #runs: readonly RunScores<E>[];
  /** The number of the run of each. */
  readonly #owners: Uint16Array;
  /** Numbers of matches. */
  readonly #heap: Uint32Array;
  #length = 0;

  private constructor(runs: readonly RunScores<E>[]) {
    const most = runs.reduce((sum, { rows }) => sum + rows.length, 0);
    this.#runs = runs;
    this.#scores = new Float64Array(most);
    this.#ranks = new Float64Array(most);
    this.#rows = new Uint32Array(most);
    this.#owners = new Uint16Array(most);
    this.#heap = new Uint32Array(most);
  }

  /** Makes one, in slices. @param after Only what comes behind it. */
  static *of<E extends Ranked>(
    runs: readonly RunScores<E>[],
    after: ScoredEnd | undefined,
  ): Generator<void, BestFirst<E>> {
    const best = new BestFirst(runs);
    for (const [owner, { run, rows, scores }] of runs.entries())
      for (const [at, row] of rows.entries()) {
        const score = scores[row] as number;
        const rank = run.ranks[row] as number;
        const isBehind =
          !after || score < after.score || (score === after.score && rank > after.rank);
        if (isBehind) best.#add(owner, row, score, rank);
        if (at % SLICE === SLICE - 1) yield;
      }
    for (let at = (best.length >> 1) - 1; at >= 0; at--) {
      best.#sink(at);
      if (at % SLICE === SLICE - 1) yield;
    }
    return best;
  }

  /** Not in its place yet. */
  #add(owner: number, row: number, score: number, rank: number): void {
    const at = this.#length++;
    this.#scores[at] = score;
    this.#ranks[at] = rank;
    this.#rows[at] = row;
    this.#owners[at] = owner;
    this.#heap[at] = at;
  }

  get length(): number {
    return this.#length;
  }

  take(): Scored<E> | undefined {
    if (this.#length === 0) return undefined;
    const heap = this.#heap;
    const best = heap[0] as number;
    heap[0] = heap[--this.#length] as number;
    this.#sink(0);
    const { run } = this.#runs[this.#owners[best] as number] as RunScores<E>;
    return { run, row: this.#rows[best] as number, score: this.#scores[best] as number };
  }

  #isBefore(a: number, b: number): boolean {
    const difference = (this.#scores[a] as number) - (this.#scores[b] as number);
    return (
      difference > 0 ||
      (difference === 0 && (this.#ranks[a] as number) < (this.#ranks[b] as number))
    );
  }

  #sink(from: number): void {
    const heap = this.#heap;
    const item = heap[from] as number;
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#length) break;
      if (
        child + 1 < this.#length &&
        this.#isBefore(heap[child + 1] as number, heap[child] as number)
      )
        child++;
      if (!this.#isBefore(heap[child] as number, item)) break;
      heap[at] = heap[child] as number;
      at = child;
    }
    heap[at] = item;
  }
}
