/** Places in {@link Stamps}, with the settings that ask for them. */
export const STAMPS = [
  { setting: 'created', place: 0 },
  { setting: 'updated', place: 1 },
  { setting: 'archived', place: 2 },
  { setting: 'unarchived', place: 3 },
] as const;

/**
 * Fields of documents that belong to Cairn: what a caller gives for them is left out. They rest beside the bodies,
 * and no body has them.
 */
export const MANAGED_FIELDS: ReadonlySet<string> = new Set([
  '_id',
  '_updated',
  '_archived',
  ...STAMPS.flatMap(({ setting }) => [`_${setting}_at`, `_${setting}_timestamp`]),
]);
