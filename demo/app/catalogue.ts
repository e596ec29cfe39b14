/** A page of the playground. */
export interface Panel {
  /** In the address: `#/query`. */
  readonly id: string;
  readonly title: string;
  /** One sentence for the start panel. */
  readonly claim?: string;
  /** An SVG path on a grid of 20. */
  readonly icon: string;
}

export const PANELS = [
  { id: '', title: 'Start', icon: 'M3 9l7-6 7 6v8h-5v-5H8v5H3z' },
  {
    id: 'data',
    title: 'Data',
    claim:
      'A grid of 135,233 live documents: search as you type, sort, edit in place. Or open your own file.',
    icon: 'M3 4h14v12H3zM3 8h14M3 12h14M8 8v8',
  },
  {
    id: 'query',
    title: 'Query',
    claim:
      'Criteria, a pipeline or a function, and the query plan: which index, how many documents examined, how long.',
    icon: 'M8.5 3a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM12.5 12.5L17 17',
  },
  {
    id: 'search',
    title: 'Search',
    claim: "Cairn's docs, searched as you type: words, beginnings, typing errors, matches marked.",
    icon: 'M3 5h14M3 9h7M3 13h5M13.500 10a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM15.700 15.200L18 17.500',
  },
  {
    id: 'dashboard',
    title: 'Dashboard',
    claim: 'Live totals of a shop, and its orders with their customers: joined in the engine.',
    icon: 'M3 17h14M5 14V9M9 14V4M13 14v-7M17 14v-3',
  },
  {
    id: 'backups',
    title: 'Backups',
    claim: 'Back up a collection in milliseconds, compare, restore, and export it as a file.',
    icon: 'M3.5 10a6.5 6.5 0 1 1 2 4.7M3 15.500v-3.500h3.500M10 6.500V10l2.5 2',
  },
  {
    id: 'storage',
    title: 'Storage',
    claim:
      'How much each collection stores, whether the browser may evict it, and when its cache is dropped.',
    icon: 'M3 6c0-1.7 3.1-3 7-3s7 1.3 7 3-3.1 3-7 3-7-1.3-7-3zM3 6v8c0 1.7 3.1 3 7 3s7-1.3 7-3V6M3 10c0 1.7 3.1 3 7 3s7-1.3 7-3',
  },
  {
    id: 'durability',
    title: 'Durability',
    claim:
      'Write, and close the tab at the same moment. The next page counts the documents it recovered.',
    icon: 'M10 2.5l6.5 2.5v5c0 4-2.8 6.5-6.5 7.5-3.7-1-6.5-3.5-6.5-7.500V5zM7 10l2.2 2.200L13.2 8',
  },
  {
    id: 'tabs',
    title: 'Tabs',
    claim:
      'Any number of tabs on one database. Close the leader, or crash its worker: another tab takes over.',
    icon: 'M6 6V3h11v9h-3M3 7.500h11V17H3zM3 10.500h11',
  },
  {
    id: 'transactions',
    title: 'Transactions',
    claim:
      'Two tabs sell from one stock at the same moment. Stock and orders agree, and you see the retries.',
    icon: 'M3 6h11M11 3l3 3-3 3M17 14H6M9 11l-3 3 3 3',
  },
  {
    id: 'sync',
    title: 'Sync',
    claim:
      'Two devices and a server in one page. Take one offline, edit both, and watch them merge.',
    icon: 'M4 8.500A6.500 6.500 0 0 1 16 7M16 3v4h-4M16 11.500A6.500 6.500 0 0 1 4 13M4 17v-4h4',
  },
  {
    id: 'devtools',
    title: 'Devtools',
    claim: 'Look into the database: documents, query plans, live queries, saves, tabs and backups.',
    icon: 'M3 4h14v12H3zM3 8h14M6 11.500l2 1.500-2 1.500M10 14.500h4',
  },
  {
    id: 'speed',
    title: 'Speed',
    claim: 'Cairn, Dexie, idb and LokiJS run the same workloads in your own browser.',
    icon: 'M3.5 14.5a7 7 0 1 1 13 0M10 11.5l3.5-4.5M10 10.5a1 1 0 1 0 0 2 1 1 0 0 0 0-2z',
  },
] as const satisfies readonly Panel[];
