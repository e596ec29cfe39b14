import type { Body } from '../../codec/body.ts';
import { lacksColumns, type Segment } from '../../storage/segment.ts';
import type { StoredRecord } from '../../storage/stored-record.ts';
import { nextTurn } from '../next-turn.ts';
import { BodyReader, bySegment } from '../records/body-reader.ts';
import type { RecordStore } from '../records/record-store.ts';
import type { Work } from '../work.ts';
import type { DocumentIndexes } from './document-indexes.ts';

/** Segments whose columns are written in one transaction: about 2 MB. */
const WRITE_AT_ONCE = 100;

/** How far the building of indexes has come. */
export type BuildProgress = (documents: number, total: number) => void;

/**
 * Brings the indexes of a collection up when it is opened. What segments already keep is taken as it is;
 * where an index is new, documents are read once and its columns written, so that the next opening is fast.
 */
export class IndexBuilder {
  readonly #records: RecordStore;
  readonly #indexes: DocumentIndexes;
  /** Segments written before one of the indexes was declared. */
  readonly #lacking = new Set<number>();
  /** The records in them, by segment; known once all are folded. */
  #groups: ReadonlyMap<number, readonly StoredRecord[]> = new Map();

  constructor(records: RecordStore, indexes: DocumentIndexes) {
    this.#records = records;
    this.#indexes = indexes;
  }

  /** To be called with every segment that is folded. */
  note(segment: Segment): void {
    if (lacksColumns(segment, this.#records.log.columns)) this.#lacking.add(segment.number);
  }

  /**
   * To be called once all are folded.
   *
   * @throws {ValueError} `unique_violation`, when documents stand against a unique index.
   */
  *build(progress: BuildProgress): Work<void> {
    if (this.#indexes.isEmpty) return;
    const records = this.#records.list();
    if (this.#lacking.size > 0) {
      const lacking = records.filter(({ segment }) => this.#lacking.has(segment));
      this.#groups = bySegment(lacking, ({ segment }) => segment);
      yield* this.#extract(lacking.length, progress);
    }
    this.#indexes.load(records);
    if (this.#lacking.size === 0) return;
    for (const record of records) this.#indexes.checkUnique(record);
  }

  *#extract(total: number, progress: BuildProgress): Work<void> {
    const reader = new BodyReader(this.#records.log, [...this.#groups.keys()]);
    let done = 0;
    for (const [number, records] of this.#groups) {
      const bodies = yield* reader.take(number);
      for (const record of records) {
        this.#indexes.extract(record, this.#records.bodyIn(record, bodies) as Body);
      }
      done += records.length;
      progress(done, total);
      yield nextTurn();
    }
  }

  /** To be called once they are built: writes the columns that were missing. Where it fails, nothing is lost but time. */
  *write(): Work<void> {
    const groups = [...this.#groups];
    for (let from = 0; from < groups.length; from += WRITE_AT_ONCE) {
      yield this.#records.log.addColumns(new Map(groups.slice(from, from + WRITE_AT_ONCE)));
    }
  }
}
