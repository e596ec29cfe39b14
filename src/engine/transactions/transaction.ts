import type { Coroutine, Result } from '../../async/coroutine.ts';
import { SerialQueue } from '../../async/serial-queue.ts';
import { bodySize } from '../../codec/size.ts';
import { TransactionError } from '../../errors/errors.ts';
import type { RelatedAsk } from '../../protocol/relation-protocol.ts';
import type { Request } from '../../protocol/requests.ts';
import type { RecordPart } from '../../storage/segments/record-part.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { CollectionContext, OperationContext } from '../collection-context.ts';
import type { StagedChanges } from '../documents/collection-versions.ts';
import { type CollectionStore, DocumentStore, storeOf } from '../documents/document-store.ts';
import type { NewVersion, VersionSink } from '../documents/new-rows.ts';
import type { SnapshotHolder } from '../records/open-snapshots.ts';
import { ReadSet } from '../records/read-set.ts';
import { isNew, RecordView, TransactionSnapshot } from './record-view.ts';

/**
 * Characters of documents that a transaction may stage: all of them are checked and entered in one
 * turn.
 */
const MOST_STAGED = 64 * 1024 * 1024;

/**
 * A transaction of a client: a snapshot, what was read of it, and what is staged. Until it is
 * committed it blocks nobody, and nobody sees it. docs/decisions/022-transactions.md has the
 * reasons.
 */
export class EngineTransaction {
  /** The order of its requests: one that waits for a document blocks the next. */
  readonly queue = new SerialQueue();
  readonly #snapshots: SnapshotHolder;
  /** Taken with the first request. */
  #snapshot: TransactionSnapshot | undefined;
  /** Few: a list is cheaper than a map. */
  readonly #parts: TransactionPart[] = [];
  #size = 0;
  #isOver = false;

  constructor(snapshots: SnapshotHolder) {
    this.#snapshots = snapshots;
  }

  /**
   * Executes a request on the view of a collection.
   *
   * @throws {TransactionError} `transaction_over`: the request had to wait, and the client has
   *   ended the transaction meanwhile.
   */
  execute(context: CollectionContext, request: Request): Result<unknown> {
    if (this.#isOver)
      throw new TransactionError('transaction_over', 'The transaction has ended meanwhile.');
    return this.#partOf(context).execute(request.related ? this.#viewed(request) : request);
  }

  /** A request that reads other collections, as this transaction sees them. */
  #viewed(request: Request): Request {
    const { contexts = [] } = request.related as RelatedAsk;
    const views = Array.from(contexts, ([number, context]): [number | string, object] => [
      number,
      this.#partOf(context as CollectionContext).view,
    ]);
    return { ...request, related: { ...request.related, contexts: new Map(views) } } as Request;
  }

  /**
   * Whether a read would differ by now. Nothing changes between the answer and what its caller does
   * next.
   */
  *isOutdated(): Coroutine<boolean> {
    const parts = this.#parts;
    do {
      for (const part of parts) if (yield* part.isOutdated()) return true;
      // A body may have had to be read.
    } while (parts.some((part) => part.isBehind));
    return false;
  }

  /**
   * Puts what is staged into its collections, all or none.
   *
   * @throws {ValueError} `unique_violation`; nothing has changed then.
   */
  apply(): void {
    const undo: (() => void)[] = [];
    const entering: (() => void)[] = [];
    try {
      for (const part of this.#parts) {
        const changes = part.changes();
        const { versions } = part.context;
        undo.push(versions.index(changes));
        entering.push(() => versions.enter(changes));
      }
    } catch (error) {
      for (const back of undo.reverse()) back();
      throw error;
    }
    for (const enter of entering) enter();
  }

  /**
   * Saves what it may have read of other clients. Must be called when it is committed, and awaited
   * before the answer: if their tab ended together with this engine, their changes would be gone,
   * while its own client would replay changes that were computed from them.
   *
   * @returns `undefined` where nothing of others is unsaved.
   */
  secure(client: string): Promise<unknown> | undefined {
    const saves = this.#parts.map(({ context }) => context.saves);
    // What is being flushed may be the commit of such a transaction.
    const isDependent = this.#parts.some(
      ({ context }) =>
        context.saves.isFlushing || context.records.applied.hasUnsavedOfOthers(client),
    );
    // A failed save is reported and retried; the transaction is committed, as any change would be.
    return isDependent ? Promise.allSettled(saves.map((one) => one.flush())) : undefined;
  }

  /** Must be called when it is committed or rolled back. */
  end(): void {
    this.#isOver = true;
    for (const part of this.#parts) part.end();
    this.#snapshot?.release();
  }

  #partOf(context: CollectionContext): TransactionPart {
    let part = this.#parts.find((one) => one.context === context);
    if (!part) {
      this.#snapshot ??= new TransactionSnapshot(this.#snapshots);
      part = new TransactionPart(context, this.#snapshot, (size) => this.#grow(context, size));
      this.#parts.push(part);
    }
    return part;
  }

  #grow({ settings: { name } }: CollectionContext, size: number): void {
    if (this.#size + size <= MOST_STAGED) {
      this.#size += size;
      return;
    }
    throw new TransactionError(
      'transaction_too_large',
      `The transaction would change more than 64 MB, at last in collection "${name}". Use several, or insertMany.`,
      { place: name },
    );
  }
}

/** One collection in a transaction: requests run on a view of it and stage their changes. */
export class TransactionPart implements VersionSink {
  readonly context: CollectionContext;
  readonly view: OperationContext;
  readonly #view: RecordView;
  readonly #store: CollectionStore;
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
    this.#view = new RecordView(context.records, snapshot, reads);
    // Where a restored backup brings other indexes, the transaction is lost.
    this.view = { ...context, records: this.#view, versions: this, reads };
    this.#store = storeOf(this.view);
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
    for (const [key, { record, kind, patches }] of this.#view.staged) {
      const before = records.table.get(key);
      if (record && before && !isNew(record)) replaced.push({ record, before, kind, patches });
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

  put(version: NewVersion): void {
    this.putAll([version]);
  }

  putAll(versions: readonly NewVersion[], deleted: readonly StoredRecord[] = []): void {
    for (const record of deleted) this.delete(record);
    // All or none: the function may catch the refusal, and go on.
    this.#grow(versions.reduce((size, { record }) => size + bodySize(record.body ?? ''), 0));
    for (const version of versions) this.#view.stage(version.record.key, version);
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
