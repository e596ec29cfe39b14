import bulkInsert from './workloads/bulk-insert.mjs';
import gets from './workloads/gets.mjs';
import growth from './workloads/growth.mjs';
import openCached from './workloads/open-cached.mjs';
import scan from './workloads/scan.mjs';
import scatteredGets from './workloads/scattered-gets.mjs';
import singleInserts from './workloads/single-inserts.mjs';

/** @type {import('./workload.mjs').Workload[]} */
export const workloads = [bulkInsert, singleInserts, gets, openCached, scatteredGets, growth, scan];
