import type { Body } from '../../codec/body.ts';
import type { CollectionContext } from '../collections/collection-context.ts';
import type { Change } from '../protocol/requests.ts';
import type { Replacement } from './document-indexes.ts';

/** A new version of a document, with its body. */
export interface NewVersion extends Replacement {
  readonly kind: Change['kind'];
}

/** @throws {ValueError} `unique_violation`; nothing has changed then. */
export function putVersion(context: CollectionContext, version: NewVersion): void {
  const { record, before } = version;
  context.indexes.extract(record, record.body as Body, before);
  context.indexes.put(record, before);
  enter(context, version);
}

/**
 * Puts versions of different documents, all or none. They may exchange keys of unique indexes.
 *
 * @throws {ValueError} `unique_violation`; nothing has changed then.
 */
export function putVersions(context: CollectionContext, versions: readonly NewVersion[]): void {
  const { indexes } = context;
  for (const { record, before } of versions) indexes.extract(record, record.body as Body, before);
  indexes.putAll(versions);
  for (const version of versions) enter(context, version);
}

function enter({ records, events }: CollectionContext, { record, kind }: NewVersion): void {
  records.put(record);
  events.changed(record.key, kind);
}
