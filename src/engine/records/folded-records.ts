import type { SegmentState } from '../../storage/segments/compaction.ts';
import { hashKeys, repeatedHashes } from '../../storage/segments/key-hashes.ts';
import { type IndexColumns, readRecords, type Segment } from '../../storage/segments/segment.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';

/**
 * The records that a list of segments stands for, while and after they are read.
 *
 * Hashes of keys find the records that a later segment puts or deletes: nearly all hashes occur once. A map of a hundred
 * thousand keys takes longer than reading them, and most requests after a start need none.
 */
export class FoldedRecords {
  /** Invariant, once finished: one record a key, in the order of `record.rank`. */
  list: StoredRecord[] = [];
  /** Whether every record has its body. */
  resident = true;
  /** The highest rank. */
  last = 0;
  readonly #columns: IndexColumns;
  readonly #caching: boolean;
  /** Of the keys that segments put, in the order of the list. */
  readonly #hashes: Uint32Array[] = [];
  /** Segments with deletes in them, and these. */
  readonly #deletes: Pick<Segment, 'number' | 'deletes'>[] = [];
  #sorted = true;

  constructor(columns: IndexColumns, caching: boolean) {
    this.#columns = columns;
    this.#caching = caching;
  }

  /** Folds a segment in; lowest number first, then {@link finish}. */
  fold(segment: Segment): void {
    const { number, keys, deletes } = segment;
    const bodies = this.#caching ? segment.bodies : undefined;
    this.#hashes.push(hashKeys(keys));
    if (deletes.length > 0) this.#deletes.push({ number, deletes });
    for (const record of readRecords(segment, this.#columns)) {
      record.body = bodies?.[record.index];
      if (record.rank < this.last) this.#sorted = false;
      else this.last = record.rank;
      this.list.push(record);
    }
    if (keys.length > 0 && !bodies) this.resident = false;
  }

  /** Removes superseded records, counts live sizes, sorts: compaction moves old records into new segments. */
  finish(segments: ReadonlyMap<number, SegmentState>): void {
    const dead = this.#dead();
    for (const { segment, size } of dead) (segments.get(segment) as SegmentState).live -= size;
    if (dead.size > 0) this.list = this.list.filter((record) => !dead.has(record));
    if (!this.#sorted) this.list.sort((a, b) => a.rank - b.rank);
  }

  /** The records that a later segment puts again or deletes. */
  #dead(): ReadonlySet<StoredRecord> {
    const deleted = this.#deletes.map(({ deletes }) => hashKeys(deletes));
    const repeated = repeatedHashes([...this.#hashes, ...deleted]);
    const dead = new Set<StoredRecord>();
    if (repeated.size === 0) return dead;
    /** By key, the segment that has the last word. */
    const newest = new Map<string, number>();
    const suspects: StoredRecord[] = [];
    let at = 0;
    for (const hashes of this.#hashes) {
      for (const hash of hashes) {
        const record = this.list[at++] as StoredRecord;
        if (!repeated.has(hash)) continue;
        suspects.push(record);
        newest.set(record.key, record.segment);
      }
    }
    for (const { number, deletes } of this.#deletes)
      for (const key of deletes) newest.set(key, Math.max(number, newest.get(key) ?? 0));
    for (const record of suspects)
      if (record.segment < (newest.get(record.key) as number)) dead.add(record);
    return dead;
  }
}
