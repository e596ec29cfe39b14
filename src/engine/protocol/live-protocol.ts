import type { Body } from '../../codec/body.ts';
import type { Stamps } from '../../storage/segments/stored-record.ts';

/** What a live query shows: documents, how many there are, or one document or value. */
export type LiveSpec =
  | {
      readonly kind: 'list';
      readonly criteria?: object | undefined;
      readonly archived: boolean | 'only';
      readonly sort?: object | undefined;
      readonly skip?: number | undefined;
      readonly limit?: number | undefined;
      /** Paths. The bodies that come back are then whole documents, managed fields included. */
      readonly select?: readonly string[] | undefined;
    }
  | {
      readonly kind: 'count';
      readonly criteria?: object | undefined;
      readonly archived: boolean | 'only';
    }
  | { readonly kind: 'item'; readonly key: string | number | readonly (string | number)[] };

/**
 * What changes in a list. Many documents come in several parts: the list is whole after the last.
 *
 * A document that is in `gone` and comes again has changed, has moved, or both.
 */
export interface ListPart {
  /** Places in the list so far of what goes, ascending. All in the first part. */
  readonly removed: readonly number[];
  /** Places in the new list of what comes, ascending. */
  readonly indexes: readonly number[];
  readonly keys: readonly string[];
  readonly flags: Uint8Array;
  readonly stamps: readonly (Stamps | undefined)[] | undefined;
  readonly bodies: readonly Body[];
  /** Whether a part is still to come. */
  readonly more: boolean;
}

/** What is told of a live query at a time: a part of its list, a count, or why nothing comes any more. */
export type LiveNews =
  | ListPart
  | { readonly count: number }
  /** Only of a mayHang one: something changed, and is looked at once a mayHang `liveNext` asks for that. */
  | { readonly changed: true }
  /** It has to be asked anew: another engine knows nothing of it. */
  | { readonly restarted: true }
  | { readonly error: Error; readonly count?: undefined };

/** News with the number that the door gave the live query. */
export interface LiveDetail {
  readonly live: number;
  readonly news: LiveNews;
}

/**
 * The operations of live queries, each known by a number that is the door's choice.
 *
 * Where criteria hold a pattern, `live` is mayHang, and so is the `liveNext` that answers `changed`. Patterns are
 * tried in these two only, and they are answered when that is over: a match that hangs keeps the answer to just
 * the request that began it.
 */
export interface LiveOperations {
  /** Begins to tell; the result comes as news, the first as soon as it is there. */
  live: {
    ask: {
      live: number;
      spec: LiveSpec;
      /** Milliseconds from one result to the next at the least. */
      throttle: number;
    };
    reply: undefined;
  };
  /**
   * Asks for more: what was told last has been taken in. Until then nothing is computed. Does nothing where the
   * number is unknown, as it is to a worker that has taken the place of another.
   */
  liveNext: { ask: { live: number }; reply: undefined };
  liveEnd: { ask: { live: number }; reply: undefined };
}
