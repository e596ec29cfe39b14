import { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { CollectionContext } from '../collections/collection-context.ts';
import type { PushedRow, RecordState, RemoteRow } from '../protocol/replica-protocol.ts';
import { sameState, stateOf } from './record-states.ts';
import type { Replica } from './replica.ts';

/** Applies states of the server to the records of a collection. */
export class RemoteRows {
  readonly #context: CollectionContext;
  readonly #replica: Replica;

  constructor(context: CollectionContext, replica: Replica) {
    this.#context = context;
    this.#replica = replica;
  }

  /** Takes over states of documents without local changes. */
  takeOver(rows: readonly RemoteRow[]): void {
    const { records, versions } = this.#context;
    const replica = this.#replica;
    const added: StoredRecord[] = [];
    for (const { id, version, state } of rows) {
      const before = records.get(id);
      if (!state) {
        if (before) versions.delete(before);
      } else {
        const record = this.#recordOf(id, version, state, before);
        if (before) versions.put({ record, before, kind: 'update' });
        else {
          versions.prepare(record);
          added.push(record);
        }
      }
      if (replica.log.get(id)) replica.equals(id);
    }
    for (const record of added) record.rank = records.takeRank();
    if (added.length > 0) versions.add(added);
  }

  /** Replaces the local state by what both were merged into. */
  resolve({ id, version, state }: RemoteRow, result: RecordState | undefined): void {
    const { records, versions } = this.#context;
    const replica = this.#replica;
    const before = records.get(id);
    const isRemote = sameState(state, result);
    if (!result) {
      if (before) versions.delete(before);
    } else if (!before || isRemote || !sameState(stateOf(before, before.body), result)) {
      const record = this.#recordOf(id, isRemote ? version : undefined, result, before);
      if (!before) record.rank = records.takeRank();
      versions.put({ record, before, kind: before ? 'update' : 'insert' });
    }
    if (isRemote) replica.equals(id);
    else replica.enter(id, { version, isDirty: true, base: state });
  }

  #recordOf(
    id: string,
    version: string | undefined,
    [flags, stamps, body]: RecordState,
    before: StoredRecord | undefined,
  ): StoredRecord {
    const record = new StoredRecord(id, before?.rank ?? 0, flags, stamps, body);
    if (version !== undefined) record.remoteVersion = this.#replica.tagged(version);
    return record;
  }

  /** Removes what the server no longer has; a document with local changes is new for it. */
  sweep(id: string, kept: ReadonlySet<string>): void {
    const { records, versions } = this.#context;
    const replica = this.#replica;
    if (kept.has(id) || replica.versionOf(id) === undefined) return;
    const record = records.get(id);
    if (!replica.dirty.has(id)) {
      if (record) replica.applying(() => versions.delete(record));
      replica.equals(id);
    } else if (record) replica.enter(id, { version: undefined, isDirty: true, base: undefined });
    else replica.equals(id);
  }

  /** The server has the local state, or another in its place. */
  accept(
    { id, version, stored }: Exclude<PushedRow, { readonly rejected: string }>,
    state: RecordState | undefined,
  ): void {
    const replica = this.#replica;
    if (stored && !sameState(stored.state, state)) {
      replica.applying(() => this.takeOver([{ id, version, state: stored.state }]));
      replica.equals(id);
    } else if (state) replica.enter(id, { version, isDirty: false, base: undefined });
    else replica.equals(id);
  }
}
