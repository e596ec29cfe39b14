import { bodySize } from '../../codec/size.ts';
import type { RecordPart } from '../../storage/segments/parts/record-part.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { CollectionContext } from '../collections/collection-context.ts';
import { ViewContext } from '../collections/view-context.ts';
import type { StagedChanges } from '../documents/collection-versions.ts';
import { DocumentStore } from '../documents/document-store.ts';
import { KeyValueStore } from '../key-values/key-value-store.ts';
import type { Request } from '../protocol/requests.ts';
import type { NewVersion, VersionSink } from '../records/version-sink.ts';
import type { Coroutine, Result } from '../scheduling/coroutine.ts';
import { ReadSet } from '../snapshots/read-set.ts';
import { isNew, RecordView } from './record-view.ts';
import type { TransactionSnapshot } from './transaction-snapshot.ts';

/** One collection in a transaction: executes requests on a view of it, and stages what they change. */
export class TransactionPart implements VersionSink {
  readonly context: CollectionContext;
  readonly #view: RecordView;
  readonly #store: DocumentStore | KeyValueStore;
  readonly #grow: (size: number) => void;

  /** @param grow Called with the size of what is staged. */
  constructor(
    context: CollectionContext,
    snapshot: TransactionSnapshot,
    grow: (size: number) => void,
  ) {
    const reads = new ReadSet();
    this.context = context;
    this.#grow = grow;
    this.#view = new RecordView(context.records, snapshot, reads, context.expiry);
    const view = new ViewContext(context, this.#view, this, reads);
    this.#store =
      context.settings.type === 'DOCUMENT_BASED'
        ? new DocumentStore(view)
        : new KeyValueStore(view);
  }

  /** @throws {CollectionError} `collection_dropped`; {TransactionError} */
  execute(request: Request): Result<unknown> {
    this.context.availability.check();
    this.#view.check();
    return this.#store.execute(request);
  }

  /** Whether others have changed something since {@link isOutdated}. */
  get isBehind(): boolean {
    return this.#view.isBehind;
  }

  /** Whether a read would differ by now. @throws {TransactionError} */
  isOutdated(): Coroutine<boolean> {
    this.context.availability.check();
    return this.#view.isOutdated();
  }

  /** The staged changes against the newest versions. */
  changes(): StagedChanges {
    const { records } = this.context;
    const deleted: StoredRecord[] = [];
    const replaced: NewVersion[] = [];
    const added: NewVersion[] = [];
    for (const [key, { record, kind }] of this.#view.staged) {
      const before = records.get(key);
      if (record && before && !isNew(record)) replaced.push({ record, before, kind });
      else if (before) deleted.push(before);
      if (record && (!before || isNew(record)))
        added.push({ record, before: undefined, kind: kindOfNew(kind) });
    }
    added.sort((a, b) => a.record.rank - b.record.rank);
    for (const { record } of added) record.rank = records.takeRank();
    return { deleted, versions: [...replaced, ...added] };
  }

  /** Ends the scans that were not read to their end. */
  end(): void {
    if (this.#store instanceof DocumentStore) this.#store.endScans();
  }

  prepare(): void {
    // Unique indexes are checked by the commit.
  }

  prepareRows(): void {
    // As above.
  }

  add(part: RecordPart): void {
    this.putAll(part.records().map((record) => ({ record, before: undefined, kind: 'insert' })));
  }

  put({ record, kind }: NewVersion): void {
    this.#grow(bodySize(record.body ?? ''));
    this.#view.stage(record.key, { record, kind });
  }

  putAll(versions: readonly NewVersion[]): void {
    // All or none: the function may catch the refusal, and go on.
    this.#grow(versions.reduce((size, { record }) => size + bodySize(record.body ?? ''), 0));
    for (const { record, kind } of versions) this.#view.stage(record.key, { record, kind });
  }

  delete({ key }: StoredRecord): void {
    this.#grow(key.length);
    this.#view.stage(key, { record: undefined, kind: 'delete' });
  }
}

/** A document that is inserted and changed in one transaction is inserted. */
function kindOfNew(kind: NewVersion['kind']): NewVersion['kind'] {
  return kind === 'set' ? kind : 'insert';
}
