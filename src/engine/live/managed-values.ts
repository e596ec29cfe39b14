import type { StoredRecord } from '../../storage/segments/stored-record.ts';

/** The managed values of a version as a text, for comparison. */
export function managedOf({ rank, flags, stamps }: StoredRecord): string {
  return `${rank} ${flags} ${stamps}`;
}
