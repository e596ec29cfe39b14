/** Indexes in {@link Stamps}, by setting. */
export const STAMPS = [
  { setting: 'created', place: 0 },
  { setting: 'updated', place: 1 },
  { setting: 'archived', place: 2 },
  { setting: 'unarchived', place: 3 },
] as const;

/**
 * Fields of documents that Cairn manages. Values that a caller gives for them are ignored; records store them beside
 * the encoded document.
 */
export const MANAGED_FIELDS: ReadonlySet<string> = new Set([
  '_id',
  '_updated',
  '_archived',
  ...STAMPS.flatMap(({ setting }) => [`_${setting}_at`, `_${setting}_timestamp`]),
]);
