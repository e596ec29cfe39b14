import type { RecordPart } from '../../storage/segments/parts/record-part.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';

/** The changes of a collection that are in no segment yet. */
export class PendingChanges {
  /** New versions. */
  readonly #records = new Set<StoredRecord>();
  /** New records that came together. */
  #parts: RecordPart[] = [];
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
    const inParts = this.#parts.reduce((size, { length }) => size + length, 0);
    return this.#records.size + inParts + this.deletes.size;
  }

  /**
   * New versions, at most one a key: the newest. Those of {@link parts} are left out.
   * Invariant: every record in here is the newest version of its key and has its body.
   */
  get records(): ReadonlySet<StoredRecord> {
    return this.#records;
  }

  /** New records that came together; all of them are pending. */
  get parts(): readonly RecordPart[] {
    return this.#parts;
  }

  /** Whether it is one of the new versions. */
  has(record: StoredRecord): boolean {
    return this.#records.has(record) || this.#parts.some((part) => part.has(record));
  }

  add(record: StoredRecord): void {
    this.#records.add(record);
  }

  addPart(part: RecordPart): void {
    if (part.isMade) for (const record of part.records()) this.#records.add(record);
    else this.#parts.push(part);
  }

  /** Removes a version, if it is one of these. */
  remove(record: StoredRecord): void {
    if (this.#records.delete(record) || !this.has(record)) return;
    this.#dissolveParts();
    this.#records.delete(record);
  }

  /** Takes back the changes of a save that failed, where no later change has overtaken them. */
  restore(failed: PendingChanges, current: (key: string) => StoredRecord | undefined): void {
    failed.#dissolveParts();
    for (const record of failed.records)
      if (current(record.key) === record) this.#records.add(record);
    for (const [key, record] of failed.deletes) this.deletes.set(key, record);
    this.changeCount += failed.changeCount;
    // Without changes of its own: the write was that of a backup.
    this.since = failed.since ?? this.since;
  }

  /** From now on each of their records is pending by itself. */
  #dissolveParts(): void {
    for (const part of this.#parts) for (const record of part.records()) this.#records.add(record);
    this.#parts = [];
  }
}
