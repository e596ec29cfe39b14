import { sameBody } from '../../codec/same-value.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';

/** The managed values of a version as a text, for comparison. */
export function managedOf({ rank, flags, stamps }: StoredRecord): string {
  return `${rank} ${flags} ${stamps}`;
}

/** Whether two versions are equal documents, as far as both are in memory. */
export function sameVersion(a: StoredRecord, b: StoredRecord): boolean {
  return sameBody(a.body, b.body) && managedOf(a) === managedOf(b);
}
