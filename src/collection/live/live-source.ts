import type { Key } from '../../engine/protocol/key-value-protocol.ts';
import type { CollectionSettings } from '../../engine/protocol/settings.ts';
import type { HandleChannel } from '../calls/handle-channel.ts';
import type { Search } from '../find/search.ts';

/** The definition of a live query, with its options checked. */
export interface LiveSource {
  /** The handle's channel, once the runtime is loaded, after all earlier calls. */
  readonly channel: () => Promise<HandleChannel>;
  readonly settings: CollectionSettings;
  /** A document's id or a key, for a query of one value. */
  readonly key?: Key;
  /** The arguments of any other query. */
  readonly search?: Search;
  readonly count?: boolean;
  /** Milliseconds. */
  readonly throttle: number;
}
