import type { StoredRecord } from '../../storage/segments/stored-record.ts';

/** Numbers of versions of records that were handed out, to notice a change in between. */
export class RecordVersions {
  readonly #numbers = new WeakMap<StoredRecord, number>();
  /** Begins anywhere: a number of an earlier engine must not stand for a version. */
  #last = Math.random();

  /** @returns 0 where there is no record. */
  numberOf(record: StoredRecord | undefined): number {
    if (!record) return 0;
    let number = this.#numbers.get(record);
    if (number === undefined) {
      number = ++this.#last;
      this.#numbers.set(record, number);
    }
    return number;
  }
}
