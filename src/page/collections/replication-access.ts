import type { HandleSettings } from '../../api/options/collection-options.ts';
import type { HandleChannel } from '../sending/handle-channel.ts';
import type { CollectionOwner } from './collection-owner.ts';

/** Registered: `cairndb/replication` may come with a copy of its own of these modules. */
export const REPLICATION: unique symbol = Symbol.for('cairndb.replication');

/** What replication needs of a collection. */
export interface ReplicationAccess {
  readonly settings: HandleSettings;
  readonly owner: CollectionOwner;
  /** The open handle's channel, after all earlier calls. */
  channel(): Promise<HandleChannel>;
}

/** A collection, as replication sees it. */
export interface Replicable {
  readonly name: string;
  /** A {@link ReplicationAccess}; not in the public types, as it is nobody's but Cairn's. */
  readonly [REPLICATION]: object;
}

/** A replication, as the hooks of frameworks see it. */
export interface ScopeHolder {
  readonly isStopped: boolean;
  hold(scope: object, failed: (error: Error) => void): () => void;
}

export interface Replicating {
  [REPLICATION]?: ReadonlyMap<string, ScopeHolder>;
}
