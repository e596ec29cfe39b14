/**
 * Characters of the longest name of a collection or database. Keys of the storage begin with the
 * name.
 */
export const MAX_NAME_LENGTH = 128;

/** Whether a name is of a log that is no collection: those names are longer. */
export function isHidden(name: string): boolean {
  return name.length > MAX_NAME_LENGTH;
}

/** The name of such a log beside a collection. */
export function hiddenName(kind: string, collection: string): string {
  return kind.padEnd(MAX_NAME_LENGTH + 1) + collection;
}
