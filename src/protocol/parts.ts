/** Parts of the engine that load when a call first needs them; `status.parts` lists those there. */
export const PART_NAMES = [
  'aggregation',
  'backups',
  'expressions',
  'relations',
  'replication',
  'search',
  'transactions',
  'updates',
  'upkeep',
  'vectors',
] as const;

export type PartName = (typeof PART_NAMES)[number];

/** The URLs of their files, and of other storage than IndexedDB. */
export type PartFiles = Readonly<Record<PartName | 'storage', string>>;

/** Where a worker's code looks for them (`tools/build/worker-parts.ts`). */
export const PART_FILES: symbol = Symbol.for('cairndb parts');
