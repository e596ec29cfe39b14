import type { Contender } from '../contender.ts';

export const OURS = 'Cairn';

export const CONTENDERS: readonly Contender[] = [
  {
    name: OURS,
    note: 'in a worker, caching: true; hands out copies',
    load: async () => (await import('./cairn.ts')).cairn,
  },
  {
    name: 'Dexie',
    note: 'bulkAdd; a record for each document',
    load: async () => (await import('./dexie.ts')).dexie,
  },
  {
    name: 'idb',
    note: 'IndexedDB itself, with promises; one transaction for all',
    load: async () => (await import('./idb.ts')).idb,
  },
  {
    name: 'LokiJS',
    note: 'all in the memory of the page; hands out the stored objects themselves',
    load: async () => (await import('./loki.ts')).loki,
  },
];
