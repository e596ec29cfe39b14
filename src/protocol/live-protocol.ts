import type { Body } from '../codec/body.ts';
import type { Stamps, StoredRecord } from '../storage/segments/stored-record.ts';
import { ANY_VERSION } from './operation-kinds.ts';
import type { LiveIncluded } from './relation-protocol.ts';

/** What an aggregation asks. */
export interface AggregateAsk {
  /** A copy of the caller's stages, which the engine checks; or a search. */
  readonly pipeline: object;
  readonly archived: boolean | 'only';
  readonly collation?: string | undefined;
  /** Number by which the call can be aborted. */
  readonly call?: number | undefined;
}

/** What an index without an order is asked, in the place of a pipeline. */
export interface IndexAsk {
  /** The `keyName` of the index. */
  readonly index: string;
  readonly criteria: object;
  readonly archived: boolean | 'only';
  readonly select: object | undefined;
}

/** What a search asks. */
export interface SearchAsk extends IndexAsk {
  readonly part: 'search';
  /** The hits, words to suggest, or how the hits are found. */
  readonly wanted: 'hits' | 'words' | 'explanation';
  readonly text: string;
  readonly limit: number;
  /** The hit before a page. */
  readonly after?: { readonly id: string; readonly score: number } | undefined;
  readonly mode: 'all' | 'any';
  readonly prefix: boolean;
  readonly fuzzy: boolean;
  readonly highlight: boolean;
}

/** What a search by a vector asks. */
export interface NearestAsk extends IndexAsk {
  readonly part: 'vectors';
  readonly wanted: 'hits' | 'explanation';
  readonly vector: Float32Array;
  readonly k: number;
  readonly exact: boolean | undefined;
  /** Ids that a search by words has found, the best first: both results are made one. */
  readonly found: readonly string[] | undefined;
}

/** The kind of a live query: documents, their count, a pipeline, or one document or value. */
export type LiveSpec =
  | {
      readonly kind: 'list';
      readonly criteria?: object | undefined;
      readonly archived: boolean | 'only';
      readonly sort?: object | undefined;
      readonly skip?: number | undefined;
      readonly limit?: number | undefined;
      /** Paths. The bodies are then whole documents, managed fields included. */
      readonly select?: object | undefined;
    }
  | {
      readonly kind: 'count';
      readonly criteria?: object | undefined;
      readonly archived: boolean | 'only';
    }
  | ({ readonly kind: 'aggregate' } & AggregateAsk)
  | { readonly kind: 'item'; readonly key: string | number | readonly (string | number)[] };

/**
 * A difference of a list. A large one has several parts; the list is complete after the last.
 *
 * A document that is removed and inserted has changed, moved, or both.
 */
export interface ListPart {
  /** Indexes in the old list of removed documents, ascending. All in the first part. */
  readonly removed: readonly number[];
  /** Indexes in the new list of inserted documents, ascending. */
  readonly indexes: readonly number[];
  readonly keys: readonly string[];
  readonly flags: Uint8Array;
  readonly stamps: readonly (Stamps | undefined)[] | undefined;
  readonly bodies: readonly Body[];
  /** The partners of the documents, for each include. */
  readonly included?: readonly LiveIncluded[] | undefined;
  /** The versions, in this thread only. */
  readonly records?: readonly StoredRecord[] | undefined;
  /** Whether another part follows. */
  readonly more: boolean;
}

/** An update of a live query: a part of its list, a count, or its error. */
export type LiveUpdate =
  | ListPart
  | { readonly count: number }
  /** Only of a mayHang query: something changed, which a mayHang `liveNext` evaluates. */
  | { readonly changed: true }
  /** After a failover: the new engine does not know the query. */
  | { readonly restarted: true }
  | { readonly error: Error; readonly count?: undefined };

/** An update with the client's number of the live query. */
export interface LiveDetail {
  readonly live: number;
  readonly news: LiveUpdate;
}

/**
 * The operations of live queries. The client numbers its queries.
 *
 * Where criteria have a pattern, `live` is mayHang, and so is the `liveNext` that follows
 * `changed`. Only these two run patterns, and their replies come afterwards: a hanging match blocks
 * just the reply to the request that started it.
 */
export interface LiveOperations {
  /** Starts a live query; results come as updates. */
  live: {
    ask: {
      live: number;
      spec: LiveSpec;
      /** Minimum milliseconds between two results. */
      throttle: number;
    };
    reply: undefined;
  };
  /**
   * Acknowledges the last update; until then the engine computes no result. Ignored for an unknown
   * number, as after a failover.
   */
  liveNext: { ask: { live: number }; reply: undefined };
  liveEnd: { ask: { live: number }; reply: undefined };
}

/** What they do. */
export const LIVE_OPERATIONS = {
  live: 0,
  liveNext: 0,
  liveEnd: ANY_VERSION,
} satisfies Readonly<Record<keyof LiveOperations, number>>;
