import type { Coroutine } from '../../async/coroutine.ts';
import { TransactionError } from '../../errors/errors.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { NewVersion } from '../documents/new-rows.ts';
import {
  OpenSnapshots,
  type ReadSnapshot,
  type SnapshotHolder,
  type VersionHistory,
} from '../records/open-snapshots.ts';
import type { ReadSet } from '../records/read-set.ts';
import type { RecordBodies } from '../records/record-bodies.ts';
import {
  type Hides,
  keysOf,
  type Overlay,
  type RecordStore,
  type Records,
} from '../records/record-store.ts';

/** Ranks of staged records: after all others. The commit gives them their own. */
const STAGED_RANKS = 2 ** 52;

/** A staged version; `record` is `undefined` for a delete. */
interface StagedVersion extends Pick<NewVersion, 'kind' | 'patches'> {
  readonly record: StoredRecord | undefined;
}

/**
 * Whether the transaction has inserted the record, perhaps in the place of one that it has deleted.
 */
export function isNew({ rank }: StoredRecord): boolean {
  return rank > STAGED_RANKS;
}

/** The records as one transaction sees them: a snapshot, and over it what is staged. */
export class RecordView implements Records {
  /** What had expired when the view was made: during a transaction nothing does. */
  readonly hides: Hides | undefined;
  readonly #records: RecordStore;
  readonly #snapshot: TransactionSnapshot;
  readonly #history: VersionHistory;
  readonly #reads: ReadSet;
  /** The versions of the snapshot that were replaced since. */
  readonly #replaced = new Map<string, StoredRecord | undefined>();
  readonly #staged = new Map<string, StagedVersion>();
  /** The time up to which {@link #replaced} is complete. */
  #seen: number;
  /** The time of the last change that {@link isOutdated} has compared. */
  #compared = 0;
  #lastRank = STAGED_RANKS;
  #list: readonly StoredRecord[] | undefined;
  /** What {@link #list} was made of. */
  #listed: readonly StoredRecord[] | undefined;

  constructor(records: RecordStore, snapshot: TransactionSnapshot, reads: ReadSet) {
    const { expiry } = records;
    this.#records = records;
    this.hides = expiry?.hidingAt(expiry.now());
    this.#snapshot = snapshot;
    this.#history = snapshot.historyOf(records);
    this.#reads = reads;
    this.#seen = snapshot.at;
  }

  get bodies(): RecordBodies {
    return this.#records.bodies;
  }

  get log(): RecordStore['log'] {
    return this.#records.log;
  }

  get overlay(): Overlay | undefined {
    this.#catchUp();
    if (this.#replaced.size + this.#staged.size === 0) return undefined;
    const overlay = new Map(this.#replaced);
    for (const [key, { record }] of this.#staged) overlay.set(key, record);
    return overlay;
  }

  get size(): number {
    return this.keys().length;
  }

  get flags(): number {
    return this.list().reduce((flags, record) => flags | record.flags, 0);
  }

  get isDecoded(): boolean {
    return !this.overlay && this.#records.isDecoded;
  }

  get total(): number {
    return this.#records.total;
  }

  get staged(): ReadonlyMap<string, StagedVersion> {
    return this.#staged;
  }

  decoded(): ReturnType<RecordStore['decoded']> {
    return this.overlay ? undefined : this.#records.decoded();
  }

  get(key: string): StoredRecord | undefined {
    this.#reads.addKey(key);
    const staged = this.#staged.get(key);
    if (staged) return staged.record;
    this.check();
    const replaced = this.#history.replacedSince(this.#snapshot.at, key);
    return unless(this.hides, replaced ? replaced.before : this.#records.table.get(key));
  }

  vacate(key: string): boolean {
    return this.get(key) === undefined;
  }

  keys(): string[] {
    return keysOf(this.list(), this.hides);
  }

  list(): readonly StoredRecord[] {
    const newest = this.#records.list();
    const { overlay } = this;
    if (!overlay) return newest;
    if (this.#list && this.#listed === newest) return this.#list;
    this.#listed = newest;
    const others = [...overlay.values()].filter((record) => record !== undefined);
    this.#list = newest
      .filter(({ key }) => !overlay.has(key))
      .concat(others)
      .sort((a, b) => a.rank - b.rank);
    return this.#list;
  }

  pin(): () => void {
    return this.#records.pin();
  }

  takeRank(): number {
    return ++this.#lastRank;
  }

  /** @param version Its patches follow those of the version that it replaces. */
  stage(key: string, version: StagedVersion): void {
    this.#reads.addKey(key);
    const { patches = [] } = this.#staged.get(key) ?? {};
    this.#staged.set(key, { ...version, patches: [...patches, ...(version.patches ?? [])] });
    this.#list = undefined;
  }

  /**
   * Whether the snapshot can still be read. @throws {TransactionError} `transaction_expired`,
   * `transaction_conflict`
   */
  check(): void {
    this.#snapshot.check();
    if (this.#history.lastReplacement > this.#snapshot.at) throw this.#snapshot.lost();
  }

  /** Whether others have changed something since the last {@link isOutdated}. */
  get isBehind(): boolean {
    return this.#history.last > this.#compared;
  }

  /** Whether a read of the transaction would differ by now. @throws {TransactionError} */
  *isOutdated(): Coroutine<boolean> {
    this.check();
    const { table, expiry } = this.#records;
    this.#compared = this.#history.last;
    const hides = expiry?.hidingAt(expiry.now());
    for (const key of this.#reads.keys) {
      const replaced = this.#history.replacedSince(this.#snapshot.at, key);
      const now = table.get(key);
      if (!hides && !replaced) continue;
      const before = replaced ? replaced.before : now;
      if (unless(this.hides, before) !== unless(hides, now)) return true;
    }
    if (!this.#reads.hasQueries) return false;
    this.#catchUp();
    for (const [key, before] of this.#replaced) {
      const after = table.get(key);
      if (yield* this.#reads.isChangedBy(before, after, this.bodies)) return true;
    }
    return false;
  }

  /** Takes in the changes of others, for queries. */
  #catchUp(): void {
    this.check();
    const history = this.#history;
    if (history.last <= this.#seen) return;
    for (const { at, records, before } of history.since(this.#seen)) {
      this.#seen = at;
      for (const { key } of records ?? [])
        if (!this.#replaced.has(key)) this.#replaced.set(key, before);
    }
    this.#list = undefined;
  }
}

/** A record, unless it is hidden. */
function unless(
  hides: Hides | undefined,
  record: StoredRecord | undefined,
): StoredRecord | undefined {
  return record && hides?.(record) ? undefined : record;
}

export class TransactionSnapshot {
  readonly #snapshots: OpenSnapshots;
  readonly #snapshot: ReadSnapshot;

  constructor(holder: SnapshotHolder) {
    holder.open ??= new OpenSnapshots(holder);
    this.#snapshots = holder.open;
    this.#snapshot = holder.open.take();
  }

  get at(): number {
    return this.#snapshot.at;
  }

  historyOf(records: RecordStore): VersionHistory {
    return this.#snapshots.of(records);
  }

  /** @throws {TransactionError} `transaction_expired` */
  check(): void {
    if (this.#snapshots.isOpen(this.#snapshot)) return;
    throw new TransactionError(
      'transaction_expired',
      'More than 100,000 changes were made while the transaction was open. Make it shorter.',
    );
  }

  /** The error of a snapshot whose collection was replaced as a whole. */
  lost(): TransactionError {
    return new TransactionError(
      'transaction_conflict',
      'A backup or a file has replaced the collection.',
    );
  }

  release(): void {
    this.#snapshots.release(this.#snapshot);
  }
}
