import { OptionError } from '../errors/errors.ts';
import type { CollectionOwner } from '../page/collections/collection-owner.ts';
import {
  REPLICATION,
  type Replicable,
  type Replicating,
  type ReplicationAccess,
} from '../page/collections/replication-access.ts';
import { platformEnvironment } from './loop/platform-environment.ts';
import { Replication } from './replication.ts';
import { optionConflict, parseOptions, type ReplicationOptions } from './replication-options.ts';
import type { ReplicatedOf } from './states.ts';

export { ReplicationError, type ReplicationErrorCode } from '../errors/replication-error.ts';
export type { CouchCheckpoint } from './couchdb/couch-answers.ts';
export { type CouchOptions, couchdb } from './couchdb/couchdb.ts';
export type { RemoteFetch, RemoteHeaders } from './fetching/remote-options.ts';
export { type HttpOptions, http } from './http.ts';
export { fromJson, toJson } from './json-documents.ts';
export type { DocumentKey, EncryptOptions } from './late-sealing.ts';
export type { ReplicationState, ReplicationStatus } from './loop/replication-status.ts';
export type { MergeRules } from './merge-fields.ts';
export type { FilePlaceholder, FileProgress, FileRef, FilesStatus } from './protocol/files.ts';
export type {
  FileAsk,
  HeldIds,
  LocalChange,
  PulledPage,
  PushResult,
  RefusedRow,
  Remote,
  RemoteChange,
  RemoteFile,
  RemoteFiles,
  ReplicationScope,
} from './protocol/remote.ts';
export type {
  RejectedDocument,
  Replication,
  ReplicationEvents,
  ReplicationScopes,
} from './replication.ts';
export type { FilesOptions, ReplicationOptions } from './replication-options.ts';
export {
  type ConflictStates,
  localWins,
  mergeFields,
  newest,
  type Resolver,
  remoteWins,
} from './resolvers.ts';
export type { Conflict } from './rounds/conflict-resolution.ts';
export type { ReplicatedOf } from './states.ts';

/**
 * Keeps a collection and a server equal: pulls what others have changed, pushes what was changed
 * here, offline too, and merges what both have changed. One page of a site does that for all; the
 * others show the same status.
 *
 * @throws {OptionError} with the invalid option; `option_conflict` where this page replicates the
 *   collection already.
 *
 * @example
 * ```ts
 * const sync = replicate(orders, { remote: http({ url: 'https://example.com/sync/orders' }) });
 * sync.on('status', ({ state, pending }) => console.log(state, pending));
 * await sync.settled({ timeout: 10_000 });
 * ```
 */
export function replicate<C extends Replicable>(
  collection: C,
  options: ReplicationOptions<ReplicatedOf<C>>,
): Replication<ReplicatedOf<C>> {
  const access = (collection as Partial<Replicable> | undefined)?.[REPLICATION] as
    | ReplicationAccess
    | undefined;
  if (!access)
    throw new OptionError('option_invalid', 'replicate() takes a collection of Cairn.', {
      place: 'collection',
    });
  const settings = parseOptions(options);
  const { name: place, type } = access.settings;
  if (settings.files && type !== 'DOCUMENT_BASED')
    throw optionConflict('files', 'Only documents have files.');
  const replications = replicationsOf(access.owner);
  // Two would undo each other's checkpoints, and ask two resolvers.
  if (replications.get(place)?.isStopped === false)
    throw optionConflict(
      place,
      `Collection "${place}" replicates already: share that, or stop() it.`,
    );
  const replication = new Replication<ReplicatedOf<C>>(
    access,
    { ...settings, collection },
    platformEnvironment,
  );
  replications.set(place, replication);
  return replication;
}

/** Of each client, by collection: where the hooks of frameworks look for them. */
function replicationsOf(client: CollectionOwner & Replicating): Map<string, Replication> {
  client[REPLICATION] ??= new Map<string, never>();
  return client[REPLICATION] as Map<string, Replication>;
}
