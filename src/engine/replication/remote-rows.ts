import { RecordPart } from '../../storage/segments/parts/record-part.ts';
import { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { CollectionContext } from '../collections/collection-context.ts';
import type { RecordState, RemoteRow } from '../protocol/replica-protocol.ts';
import { sameState } from './record-states.ts';
import type { Replica } from './replica.ts';

/** A state of the server, and what the document shall be. */
export type Outcome = readonly [row: RemoteRow, result: RecordState | undefined];

/** Applies states of the server to the records of a collection. They are no local changes. */
export function applyRows(
  { records, versions }: CollectionContext,
  replica: Replica,
  outcomes: readonly Outcome[],
): void {
  const added: StoredRecord[] = [];
  const changed: (() => void)[] = [];
  for (const [{ id, version, state, resolution }, result] of outcomes) {
    const before = records.get(id);
    const isRemote = result === state || sameState(result, state);
    // The server may take what a merge has made of a document that it refused.
    if (resolution && !sameState(result, resolution.seen)) replica.accept(id);
    if (!result) {
      if (before) versions.delete(before);
    } else if (isRemote || !sameState(result, resolution?.seen)) {
      const [flags, stamps, body] = result;
      const record = new StoredRecord(id, before?.rank ?? 0, flags, stamps, body);
      if (isRemote && version !== undefined) record.remoteVersion = replica.tagged(version);
      if (before) versions.put({ record, before, kind: 'update' });
      else {
        versions.prepare(record);
        added.push(record);
      }
    }
    if (!isRemote) changed.push(() => replica.enter(id, { version, isDirty: true, base: state }));
    else if (replica.log.get(id) || replica.dirty.has(id)) changed.push(() => replica.equals(id));
  }
  for (const record of added) record.rank = records.takeRank();
  if (added.length > 0) versions.add(new RecordPart({ made: added }));
  // A unique index may have refused the documents.
  for (const enter of changed) enter();
}
