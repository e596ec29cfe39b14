import type { Criteria } from '../query/criteria/criteria-types.ts';
import type { Found, SelectOption, Stamp, Stored } from './document-types.ts';

/** Options of `search`. */
export interface SearchOptions<
  T extends object,
  S extends Stamp = never,
  L extends SelectOption<T, S> = undefined,
> {
  /** The most hits, at most 1,000. @default 20 */
  limit?: number | undefined;
  /** The last hit of the page before. */
  after?: { readonly document: { readonly _id: string }; readonly score: number } | undefined;
  /** Criteria that documents must match as well. @default all documents */
  criteria?: Criteria<Stored<T, S>> | undefined;
  /** Whether all words must occur in a document, or any of them. @default 'all' */
  mode?: 'all' | 'any' | undefined;
  /** Whether the last word may be the beginning of one. @default true */
  prefix?: boolean | undefined;
  /**
   * Whether words may have typing errors: one from four letters, two from eight.
   * @default false
   */
  fuzzy?: boolean | undefined;
  /** Whether hits say where the words are. @default false */
  highlight?: boolean | undefined;
  /** Whether archived documents count too, or only they. @default false */
  archived?: boolean | 'only' | undefined;
  /** As of `filter`; it needs `_id` where `after` is to continue. @default whole documents */
  select?: L | undefined;
  /** Aborts the call: the promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Options of `liveSearch`. */
export type LiveSearchOptions<
  T extends object,
  S extends Stamp = never,
  L extends SelectOption<T, S> = undefined,
> = Omit<SearchOptions<T, S, L>, 'signal' | 'after'> & {
  /** Minimum milliseconds between two results. @default 0 */
  throttle?: number | undefined;
};

/** A document that a search has found. */
export interface SearchHit<D> {
  readonly document: D;
  /** How well it matches: BM25, comparable within one result. */
  readonly score: number;
  /** With `highlight`: by path, where the words begin and end in the text. */
  readonly matches?: Readonly<Record<string, readonly (readonly [from: number, to: number])[]>>;
  /**
   * Set where so many words begin with what was typed that some of them were left out: there may be
   * more hits, and other scores.
   */
  readonly truncated?: true;
}

/** The hits of a search. */
export type SearchHits<T extends object, S extends Stamp, L> = SearchHit<Found<T, S, L>>[];

/** A text that `suggest` proposes. */
export interface Suggestion {
  /** What was typed, with its last word completed: folded, without case and accents. */
  readonly text: string;
  /** How many documents have it, archived ones included. */
  readonly documents: number;
}

/** How `search` finds its hits. */
export interface SearchExplanation {
  /** The words of the query, with those of the index that they stand for. */
  readonly words: readonly {
    readonly word: string;
    readonly use: 'word' | 'phrase' | 'excluded';
    /** How many words of the index it stands for: its beginnings, errors and synonyms. */
    readonly variants: number;
    /** How many times documents have one of these. */
    readonly entries: number;
  }[];
  /** How the criteria were applied: through an index, or to each candidate. */
  readonly criteria: 'none' | 'index' | 'documents';
  /** The index of the planner that narrowed the hits. */
  readonly index?: string | undefined;
  /** Documents whose words match, before phrases and criteria. */
  readonly candidates: number;
  /** Documents whose fields were read, for phrases and criteria. */
  readonly documents_examined: number;
  readonly returned: number;
  readonly truncated: boolean;
  /** How large the index is. */
  readonly postings: {
    readonly documents: number;
    /** Different words. */
    readonly words: number;
    /** Memory that they take, without their documents. */
    readonly bytes: number;
  };
  /** Milliseconds in the engine. */
  readonly engine_ms: number;
}
