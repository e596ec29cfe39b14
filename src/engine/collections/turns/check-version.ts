import { otherVersion } from '../../collection-errors.ts';
import type { IndexDeclaration } from '../../documents/index-declarations.ts';
import type { IdempotencyKey } from '../../protocol/idempotency-key.ts';
import { isOfAnyVersion } from '../../protocol/operations.ts';
import type { OperationName } from '../../protocol/requests.ts';
import type { RecordStore } from '../../records/record-store.ts';
import type { CollectionContext } from '../collection-context.ts';

/** What a request needs of its handle's declaration; a replayed change waits for no index. */
export type HandleDeclaration = Pick<IndexDeclaration, 'version'> &
  Partial<Pick<IndexDeclaration, 'pending' | 'error'>>;

/**
 * Refuses a request of a handle that has another version than the documents.
 *
 * @param key Of a change by a client.
 * @returns whether the versions are the same; a few requests are executed all the same.
 * @throws {CollectionError} `schema_newer`, `schema_older`
 */
export function checkVersion(
  { availability, settings, records }: CollectionContext,
  op: OperationName,
  { version }: HandleDeclaration,
  key?: IdempotencyKey,
): boolean {
  if (version === records.log.version) return true;
  if (isOfAnyVersion(op) || availability.error) return false;
  // Applied before: it is answered so.
  if (key && records.applied.has(key)) return false;
  throw otherVersion(settings.name, records.log.version, version);
}

/** A collection without documents that is not stored has the highest version of its handles. */
export function declareVersion({ log, size, unsaved }: RecordStore, version: number): void {
  if (!log.exists && size + unsaved === 0) log.raiseVersion(version);
}
