import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OpenSnapshots, Snapshot } from './open-snapshots.ts';

/** Changes that are kept for open snapshots; with more the oldest snapshot expires. */
const MOST = 100_000;

/** So many are kept before the first attempt to forget some. */
const FEW = 1024;

/** One change: of a record, of many new records, or of all. */
export interface NotedChange {
  readonly at: number;
  /** The records that were added, or the one that was replaced or deleted; left out where all records were replaced. */
  readonly records: readonly Pick<StoredRecord, 'key'>[] | undefined;
  /** The replaced or deleted version. */
  readonly before: StoredRecord | undefined;
}

/** A version that was replaced; `before` is `undefined` where the record did not exist. */
interface ReplacedVersion extends Pick<NotedChange, 'at' | 'before'> {
  /** The version of the record that was replaced before this one. */
  readonly earlier: ReplacedVersion | undefined;
}

/** The changes of a collection since the oldest open snapshot, with the versions that they replaced. */
export class VersionHistory {
  readonly #snapshots: OpenSnapshots;
  readonly #pin: () => () => void;
  readonly #isBeingSaved: (record: StoredRecord) => boolean;
  #changes: NotedChange[] = [];
  /** The version of each record that was replaced last: a read of one record does not go through all changes. */
  readonly #replaced = new Map<string, ReplacedVersion>();
  #trimAt = FEW;
  #lastReplacement = 0;
  /** Set while a kept version has to be read from its segment. */
  #unpin: (() => void) | undefined;

  /**
   * @param pin Keeps compaction away.
   * @param isBeingSaved Whether a save under way writes the version, which then may drop its body.
   */
  constructor(
    snapshots: OpenSnapshots,
    pin: () => () => void,
    isBeingSaved: (record: StoredRecord) => boolean,
  ) {
    this.#snapshots = snapshots;
    this.#pin = pin;
    this.#isBeingSaved = isBeingSaved;
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
    if (!this.#snapshots.isEmpty) this.#add([record], before);
  }

  noteAdded(keys: readonly string[]): void {
    if (this.#snapshots.isEmpty) return;
    this.#add(
      keys.map((key) => ({ key })),
      undefined,
    );
  }

  noteReplacement(): void {
    if (!this.#snapshots.isEmpty) this.#lastReplacement = this.#add(undefined, undefined);
  }

  /** The changes since a snapshot, or since the last of an earlier call. */
  since(at: Snapshot['at']): NotedChange[] {
    let from = this.#changes.length;
    while (from > 0 && (this.#changes[from - 1] as NotedChange).at > at) from--;
    return this.#changes.slice(from);
  }

  /** The version of a record that a snapshot shows, where it was replaced since. */
  replacedSince(at: Snapshot['at'], key: string): Pick<NotedChange, 'before'> | undefined {
    let first: ReplacedVersion | undefined;
    for (
      let version = this.#replaced.get(key);
      version && version.at > at;
      version = version.earlier
    )
      first = version;
    return first;
  }

  /** Forgets the changes that no open snapshot needs. */
  trim(): void {
    const { oldest } = this.#snapshots;
    this.#changes = this.#changes.filter(({ at }) => at > oldest);
    this.#trimAt = Math.min(MOST, Math.max(FEW, 2 * this.#changes.length));
    this.#replaced.clear();
    for (const change of this.#changes) this.#noteReplaced(change);
    if (this.#changes.length > 0) return;
    this.#unpin?.();
    this.#unpin = undefined;
  }

  /** @returns the time of the change. */
  #add(records: NotedChange['records'], before: StoredRecord | undefined): number {
    if (before && (before.body === undefined || this.#isBeingSaved(before)))
      this.#unpin ??= this.#pin();
    const change = { at: this.#snapshots.tick(this), records, before };
    this.#changes.push(change);
    this.#noteReplaced(change);
    if (this.#changes.length >= this.#trimAt) this.#trimFull();
    return change.at;
  }

  #noteReplaced({ at, records, before }: NotedChange): void {
    for (const { key } of records ?? [])
      this.#replaced.set(key, { at, before, earlier: this.#replaced.get(key) });
  }

  #trimFull(): void {
    this.trim();
    while (this.#changes.length >= MOST) {
      this.#snapshots.expireOldest();
      this.trim();
    }
  }
}
