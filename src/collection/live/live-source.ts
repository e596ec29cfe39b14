import type { Key } from '../../engine/protocol.ts';
import type { CollectionSettings } from '../../engine/settings.ts';
import type { Port } from '../port.ts';

/** What a live query shows, with its options checked. */
export interface LiveSource {
  readonly port: Port;
  readonly settings: CollectionSettings;
  readonly kind: 'list' | 'count' | 'item';
  /** The id of a document or a key, where the query is of one item. */
  readonly key?: Key;
  readonly criteria?: object | undefined;
  /** What documents have to pass on this side: a predicate, `where`. */
  readonly filters: readonly ((document: never) => unknown)[];
  readonly archived: boolean | 'only';
  readonly sort?: unknown;
  readonly skip?: number | undefined;
  readonly limit?: number | undefined;
  readonly select?: readonly string[] | undefined;
  /** Milliseconds. */
  readonly throttle: number;
}
