import type { StoredRecord } from '../../storage/segments/stored-record.ts';

/** The changes of a collection that are in no segment yet. */
export class PendingChanges {
  /**
   * New versions, at most one a key: the newest.
   * Invariant: every record in here is the newest version of its key and has its body.
   */
  readonly records = new Set<StoredRecord>();
  /**
   * Deleted keys that storage holds or is about to hold, each with the newest version that may be stored.
   * A key may be in both: deleted, then inserted again.
   */
  readonly deletes = new Map<string, StoredRecord>();
  /** How many changes were made: several to one document leave one record, and each counts. */
  changeCount = 0;
  /** When the first of them was made, by the monotonic clock and as Unix time. */
  since: { readonly elapsed: number; readonly now: number } | undefined;

  get size(): number {
    return this.records.size + this.deletes.size;
  }

  /** Takes back the changes of a save that failed, where no later change has overtaken them. */
  restore(failed: PendingChanges, current: (key: string) => StoredRecord | undefined): void {
    for (const record of failed.records)
      if (current(record.key) === record) this.records.add(record);
    for (const [key, record] of failed.deletes) this.deletes.set(key, record);
    this.changeCount += failed.changeCount;
    this.since = failed.since;
  }
}
