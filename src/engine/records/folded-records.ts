import type { SegmentState } from '../../storage/compaction.ts';
import { readRecords, type Segment } from '../../storage/segment.ts';
import type { StoredRecord } from '../../storage/stored-record.ts';

/** The records that a list of segments stands for, while and after they are read. */
export class FoldedRecords {
  /** Invariant, once finished: iterates in the order of `record.order`. */
  records = new Map<string, StoredRecord>();
  /** Whether every record has its body. */
  resident = true;
  /** The highest rank. */
  last = 0;
  readonly #columns: readonly string[];
  readonly #caching: boolean;

  constructor(columns: readonly string[], caching: boolean) {
    this.#columns = columns;
    this.#caching = caching;
  }

  /** Takes in a segment; lowest number first, then {@link finish}. */
  fold(segment: Segment): void {
    const { records } = this;
    const bodies = this.#caching ? segment.bodies : undefined;
    for (const key of segment.deletes) records.delete(key);
    readRecords(segment, this.#columns, (record) => {
      record.body = bodies?.[record.index];
      records.set(record.key, record);
    });
    if (segment.keys.length > 0 && !bodies) this.resident = false;
  }

  /** Counts what is live, and brings the records in order: compaction moves old ones into new segments. */
  finish(segments: ReadonlyMap<number, SegmentState>): void {
    for (const state of segments.values()) state.live = 0;
    let state: { number: number; live: number } = { number: 0, live: 0 };
    let sorted = true;
    for (const { order, segment, size } of this.records.values()) {
      if (order < this.last) sorted = false;
      else this.last = order;
      if (state.number !== segment) state = segments.get(segment) ?? state;
      state.live += size;
    }
    if (sorted) return;
    const records = [...this.records.values()].sort((a, b) => a.order - b.order);
    this.records = new Map(records.map((record) => [record.key, record]));
  }
}
