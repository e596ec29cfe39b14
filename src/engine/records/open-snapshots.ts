import type { StoredRecord } from '../../storage/segments/stored-record.ts';

/** A state of all collections that can still be read. */
export interface ReadSnapshot {
  /** The time of the last change that it shows. */
  readonly at: number;
}

/** Where an engine has its snapshots. While none is open, no change is noted. */
export interface SnapshotHolder {
  open?: OpenSnapshots | undefined;
}

/** The records of a collection, as their history sees them. */
interface NotedRecords {
  /** Keeps compaction away. Returns the release. */
  pin(): () => void;
  /** Whether a save under way writes the version, which then may drop its body. */
  isBeingSaved(record: StoredRecord): boolean;
}

/**
 * The open snapshots of an engine. They copy nothing: while one is open, each collection notes the
 * versions that are replaced. Time is the number of changes.
 */
export class OpenSnapshots {
  readonly #holder: SnapshotHolder;
  /** Oldest first. */
  readonly #open = new Set<ReadSnapshot>();
  readonly #histories = new Map<NotedRecords, VersionHistory>();
  #now = 0;

  constructor(holder: SnapshotHolder) {
    this.#holder = holder;
  }

  /** The history of a collection. */
  of(records: NotedRecords): VersionHistory {
    let history = this.#histories.get(records);
    if (!history) {
      history = new VersionHistory(this, records);
      this.#histories.set(records, history);
    }
    return history;
  }

  /** The time of the oldest; nothing before it has to be kept. */
  get oldest(): number {
    for (const { at } of this.#open) return at;
    return Number.POSITIVE_INFINITY;
  }

  take(): ReadSnapshot {
    const snapshot = { at: this.#now };
    this.#open.add(snapshot);
    return snapshot;
  }

  /** Whether it can still be read. */
  isOpen(snapshot: ReadSnapshot): boolean {
    return this.#open.has(snapshot);
  }

  release(snapshot: ReadSnapshot): void {
    this.#open.delete(snapshot);
    if (this.#open.size > 0) return;
    for (const history of this.#histories.values()) history.trim();
    if (this.#holder.open === this) this.#holder.open = undefined;
  }

  /** Ends those of a time before a change: too much was changed since. */
  expireBefore(at: number): void {
    for (const snapshot of this.#open) {
      if (snapshot.at >= at) return;
      this.release(snapshot);
    }
  }

  /** The time of the next change. */
  tick(): number {
    return ++this.#now;
  }
}

/** Changes that are kept for open snapshots; with more the oldest snapshot expires. */
const MOST = 100_000;
/** So many are kept before the first attempt to forget some. */
const FEW = 1024;

/** One change: of a record, of many new records, or of all. */
interface NotedChange {
  readonly at: number;
  /**
   * The records that were added, or the one that was replaced or deleted; left out where all
   * records were replaced.
   */
  readonly records: readonly Pick<StoredRecord, 'key'>[] | undefined;
  /** The replaced or deleted version. */
  readonly before: StoredRecord | undefined;
}

/** A version that was replaced; `before` is `undefined` where the record did not exist. */
interface ReplacedVersion extends Pick<NotedChange, 'at' | 'before'> {
  readonly key: string;
  /** The version of the record that was replaced before this one. */
  earlier: ReplacedVersion | undefined;
  /** The one that was replaced after it. */
  later: ReplacedVersion | undefined;
}

/**
 * The changes of a collection since the oldest open snapshot, with the versions that they replaced.
 */
export class VersionHistory {
  readonly #snapshots: OpenSnapshots;
  readonly #records: NotedRecords;
  readonly #changes: NotedChange[] = [];
  /** The versions that they replaced, in the same order. */
  readonly #versions: ReplacedVersion[] = [];
  /**
   * The version of each record that was replaced last: a read of one record does not go through all
   * changes.
   */
  readonly #replaced = new Map<string, ReplacedVersion>();
  #trimAt = FEW;
  #lastReplacement = 0;
  /** Set while a kept version has to be read from its segment. */
  #unpin: (() => void) | undefined;

  constructor(snapshots: OpenSnapshots, records: NotedRecords) {
    this.#snapshots = snapshots;
    this.#records = records;
  }

  /** The time of the last change that is kept. */
  get last(): number {
    return this.#changes.at(-1)?.at ?? 0;
  }

  /** The time at which all records were replaced. */
  get lastReplacement(): number {
    return this.#lastReplacement;
  }

  /** Must be called before a version is replaced, deleted, or put for the first time. */
  note(record: Pick<StoredRecord, 'key'>, before: StoredRecord | undefined): void {
    this.#add([record], before);
  }

  noteAdded(keys: readonly string[]): void {
    this.#add(
      keys.map((key) => ({ key })),
      undefined,
    );
  }

  noteReplacement(): void {
    this.#lastReplacement = this.#add(undefined, undefined);
  }

  /** The changes since a snapshot, or since the last of an earlier call. */
  since(at: ReadSnapshot['at']): NotedChange[] {
    let from = this.#changes.length;
    while (from > 0 && (this.#changes[from - 1] as NotedChange).at > at) from--;
    return this.#changes.slice(from);
  }

  /** The version of a record that a snapshot shows, where it was replaced since. */
  replacedSince(at: ReadSnapshot['at'], key: string): Pick<NotedChange, 'before'> | undefined {
    let first: ReplacedVersion | undefined;
    for (
      let version = this.#replaced.get(key);
      version && version.at > at;
      version = version.earlier
    )
      first = version;
    return first;
  }

  /** Forgets the changes that no open snapshot needs; goes through these alone. */
  trim(): void {
    const { oldest } = this.#snapshots;
    takeUntil(this.#changes, oldest);
    for (const { key, later } of takeUntil(this.#versions, oldest)) {
      if (later) later.earlier = undefined;
      else this.#replaced.delete(key);
    }
    this.#trimAt = Math.min(MOST, Math.max(FEW, 2 * this.#changes.length));
    if (this.#changes.length > 0) return;
    this.#unpin?.();
    this.#unpin = undefined;
  }

  /** @returns the time of the change. */
  #add(records: NotedChange['records'], before: StoredRecord | undefined): number {
    if (before && (before.body === undefined || this.#records.isBeingSaved(before)))
      this.#unpin ??= this.#records.pin();
    const change = { at: this.#snapshots.tick(), records, before };
    this.#changes.push(change);
    for (const { key } of records ?? []) {
      const earlier = this.#replaced.get(key);
      const version = { key, at: change.at, before, earlier, later: undefined };
      if (earlier) earlier.later = version;
      this.#replaced.set(key, version);
      this.#versions.push(version);
    }
    if (this.#changes.length >= this.#trimAt) this.#trimFull();
    return change.at;
  }

  #trimFull(): void {
    this.trim();
    const excess = this.#changes.at(-MOST);
    if (!excess) return;
    this.#snapshots.expireBefore(excess.at);
    this.trim();
  }
}

/** Takes out what comes first, up to a time. */
function takeUntil<T extends Pick<NotedChange, 'at'>>(list: T[], time: number): T[] {
  const left = list.findIndex(({ at }) => at > time);
  return list.splice(0, left < 0 ? list.length : left);
}
