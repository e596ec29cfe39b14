import type { StoredRecord } from '../../storage/segments/stored-record.ts';

const numbers = new WeakMap<StoredRecord, number>();

/** Begins anywhere: a number of an earlier engine must not stand for a version. */
let last = Math.random();

/**
 * The number of a version of a record, to notice a change in between. One table for all collections: each transaction would
 * need its own, and weak maps are dear.
 *
 * @returns 0 where there is no record.
 */
export function versionNumber(record: StoredRecord | undefined): number {
  if (!record) return 0;
  let number = numbers.get(record);
  if (number === undefined) {
    number = ++last;
    numbers.set(record, number);
  }
  return number;
}
