import type { StoredRecord } from '../../storage/segments/stored-record.ts';

/** The managed values of a version as a text: the same for two versions when none of them differs. */
export function managedOf({ rank, flags, stamps }: StoredRecord): string {
  return `${rank} ${flags} ${stamps}`;
}
