import type { Key } from '../../engine/protocol/requests.ts';
import type { CollectionSettings } from '../../engine/protocol/settings.ts';
import type { Port } from '../calls/port.ts';
import type { Search } from '../find/search.ts';

/** The definition of a live query, with its options checked. */
export interface LiveSource {
  readonly port: Port;
  readonly settings: CollectionSettings;
  /** A document's id or a key, for a query of one item. */
  readonly key?: Key;
  /** The documents, for any other. */
  readonly search?: Search;
  readonly count?: boolean;
  /** Milliseconds. */
  readonly throttle: number;
}
