import backups from './workloads/backups.mjs';
import bulkInsert from './workloads/bulk-insert.mjs';
import durableInserts from './workloads/durable-inserts.mjs';
import gets from './workloads/gets.mjs';
import growth from './workloads/growth.mjs';
import indexedCold from './workloads/indexed-cold.mjs';
import indexedFinds from './workloads/indexed-finds.mjs';
import liveQueries from './workloads/live-queries.mjs';
import migration from './workloads/migration.mjs';
import openCached from './workloads/open-cached.mjs';
import openIndexed from './workloads/open-indexed.mjs';
import queryGrowth from './workloads/query-growth.mjs';
import scan from './workloads/scan.mjs';
import scatteredGets from './workloads/scattered-gets.mjs';
import singleInserts from './workloads/single-inserts.mjs';
import sortedPage from './workloads/sorted-page.mjs';
import transactions from './workloads/transactions.mjs';

/** @type {import('./workload.mjs').Workload[]} */
export const workloads = [
  bulkInsert,
  backups,
  singleInserts,
  durableInserts,
  gets,
  openCached,
  scatteredGets,
  growth,
  scan,
  indexedFinds,
  sortedPage,
  indexedCold,
  liveQueries,
  migration,
  openIndexed,
  queryGrowth,
  transactions,
];
