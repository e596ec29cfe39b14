import type { Body } from '../../codec/body.ts';
import { addColumns } from '../../storage/log/add-columns.ts';
import {
  indexedColumns,
  lacksColumns,
  readRecords,
  type Segment,
} from '../../storage/segments/segment.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import { BodyReader, bySegment } from '../records/body-reader.ts';
import type { RecordStore } from '../records/record-store.ts';
import type { Coroutine } from '../scheduling/coroutine.ts';
import { nextTurn } from '../scheduling/next-turn.ts';
import type { DocumentIndexes } from './document-indexes.ts';

/** Segments that are rewritten in one transaction, so that nobody waits long for it. */
const WRITE_AT_ONCE = 16;

/** Called as keys are extracted, and once more when all are. */
export type BuildProgress = (documents: number, total: number) => void;

/**
 * Brings up the indexes of a list of records. Segments keep the keys of each record beside it; those written
 * before an index was declared are read whole, once.
 */
export class IndexBuilder {
  readonly #store: RecordStore;
  readonly #indexes: DocumentIndexes;
  /** Segments written before one of the indexes was declared. */
  readonly #lacking = new Set<number>();
  /** The records in them, by segment; known once all are folded. */
  #groups: ReadonlyMap<number, readonly StoredRecord[]> = new Map();

  constructor(store: RecordStore, indexes: DocumentIndexes) {
    this.#store = store;
    this.#indexes = indexes;
  }

  /** To be called with each segment that is folded. */
  note(segment: Segment): void {
    if (lacksColumns(segment, this.#store.log.columns)) this.#lacking.add(segment.number);
  }

  /** Whether segments lack columns. */
  get isBehind(): boolean {
    return this.#groups.size > 0;
  }

  /**
   * Builds the indexes of folded records, given in order.
   *
   * @param known Whether these were checked to be unique when they were written, if their segments have columns.
   * @throws {ValueError} `unique_violation`, when an index was declared that documents do not fit.
   */
  *build(
    records: readonly StoredRecord[],
    progress: BuildProgress,
    known: boolean,
  ): Coroutine<void> {
    if (this.#indexes.isEmpty) return;
    if (this.#lacking.size > 0) {
      const lacking = records.filter(({ segment }) => this.#lacking.has(segment));
      this.#groups = bySegment(lacking, ({ segment }) => segment);
      yield* this.#extract(lacking.length, progress);
    }
    this.#indexes.load(records);
    if (known && this.#lacking.size === 0) return;
    for (const record of records) this.#indexes.checkUnique(record);
  }

  *#extract(total: number, progress: BuildProgress): Coroutine<void> {
    const reader = new BodyReader(this.#store.log, [...this.#groups.keys()]);
    let done = 0;
    for (const [number, records] of this.#groups) {
      const bodies = yield* reader.take(number);
      for (const record of records) {
        this.#indexes.extract(record, this.#store.bodyIn(record, bodies) as Body);
      }
      done += records.length;
      progress(done, total);
      yield nextTurn();
    }
  }

  /** To be called once they are built: writes the columns that were missing. Where it fails, nothing is lost but time. */
  *write(): Coroutine<void> {
    const numbers = [...this.#groups.keys()];
    for (let from = 0; from < numbers.length; from += WRITE_AT_ONCE) {
      const some = numbers.slice(from, from + WRITE_AT_ONCE);
      yield addColumns(this.#store.log, some, (segment) => this.#columnsOf(segment));
    }
  }

  /** The columns of all records in a segment: backups may want those that are superseded. */
  async #columnsOf(segment: Segment): Promise<Segment['indexed']> {
    const { log } = this.#store;
    const records: (StoredRecord | undefined)[] = segment.keys.map(() => undefined);
    for (const record of this.#groups.get(segment.number) ?? []) records[record.index] = record;
    if (records.includes(undefined)) {
      const { bodies } = await log.bodies.load(segment.number);
      for (const record of readRecords(segment, [])) {
        if (records[record.index]) continue;
        this.#indexes.extract(record, bodies[record.index] as Body);
        records[record.index] = record;
      }
    }
    return indexedColumns(records as StoredRecord[], log.columns);
  }
}
