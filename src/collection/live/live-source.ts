import type { Key } from '../../engine/protocol/requests.ts';
import type { CollectionSettings } from '../../engine/protocol/settings.ts';
import type { Port } from '../calls/port.ts';
import type { Search } from '../find/search.ts';

/** What a live query shows, with its options checked. */
export interface LiveSource {
  readonly port: Port;
  readonly settings: CollectionSettings;
  /** A document's id, or a key, where it is of one item. */
  readonly key?: Key;
  /** What documents it is of, else. */
  readonly search?: Search;
  readonly count?: boolean;
  /** Milliseconds. */
  readonly throttle: number;
}
