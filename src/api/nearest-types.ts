import type { Found, SelectOption, Stamp } from './document-types.ts';
import type { SearchOptions } from './search-types.ts';

/** Options of `nearest`. */
export interface NearestOptions<
  T extends object,
  S extends Stamp = never,
  L extends SelectOption<T, S> = undefined,
> extends Pick<SearchOptions<T, S, L>, 'criteria' | 'archived' | 'select' | 'signal'> {
  /** The most hits, at most 1,000. @default 10 */
  k?: number | undefined;
  /** The path of the index; a collection with one vector index needs none. */
  path?: string | undefined;
  /**
   * Whether all vectors are compared. Without, that is so while the collection has 40 million
   * numbers at most, such as 100,000 vectors of 400; in a larger one the nearest are looked for in
   * a few cells, and `explainNearest` says how many are found. `false` asks for cells at any size.
   */
  exact?: boolean | undefined;
}

/** A document that `nearest` has found. */
export interface NearestHit<D> {
  readonly document: D;
  /**
   * How near it is, by the metric of the index: the cosine, the dot product, or 1 / (1 +
   * distance). The higher, the nearer.
   */
  readonly score: number;
}

/** What `nearest` finds. */
export type NearestHits<T extends object, S extends Stamp, L> = NearestHit<Found<T, S, L>>[];

/** Options of `hybrid`. */
export interface HybridOptions<
  T extends object,
  S extends Stamp = never,
  L extends SelectOption<T, S> = undefined,
> extends Pick<
      NearestOptions<T, S, L>,
      'criteria' | 'path' | 'exact' | 'archived' | 'select' | 'signal'
    >,
    Pick<SearchOptions<T, S>, 'mode' | 'prefix' | 'fuzzy'> {
  /** The most hits, at most 200. @default 20 */
  limit?: number | undefined;
}

/** A document that `hybrid` has found. */
export interface HybridHit<D> {
  readonly document: D;
  /** The sum of 1 / (60 + place) over both results (reciprocal rank fusion). */
  readonly score: number;
  /** Its place among those that have the words, from 1; left out where it is not among them. */
  readonly text?: number | undefined;
  /** Its place among the nearest. */
  readonly vector?: number | undefined;
}

/** What `hybrid` finds. */
export type HybridHits<T extends object, S extends Stamp, L> = HybridHit<Found<T, S, L>>[];

/** How `nearest` finds its hits. */
export interface NearestExplanation {
  /** The path of the index. */
  readonly index: string;
  /** Vectors in the index. */
  readonly vectors: number;
  /** Vectors that were compared. */
  readonly vectors_examined: number;
  /** Set where only some cells were looked into. */
  readonly approximate?:
    | {
        readonly cells: number;
        readonly cells_examined: number;
        /** The share of the nearest 10 that is found, as measured when the cells were made. */
        readonly recall: number;
      }
    | undefined;
  /** How the criteria were applied: through an index, or to the nearest. */
  readonly criteria: 'none' | 'index' | 'documents';
  /** Documents whose fields were read for the criteria. */
  readonly documents_examined: number;
  readonly returned: number;
  /** Milliseconds in the engine. */
  readonly engine_ms: number;
}
