import { bulkInsert } from './workloads/bulk-insert.mjs';
import { deletes, updates } from './workloads/changes.mjs';
import { gets } from './workloads/gets.mjs';
import { heap } from './workloads/heap.mjs';
import { inserts } from './workloads/inserts.mjs';
import { live } from './workloads/live.mjs';
import { open } from './workloads/open.mjs';
import { count, equality, range, scan, sorted } from './workloads/queries.mjs';
import { everything, firstAnswer } from './workloads/reload.mjs';

/**
 * In the order in which they are run: what changes documents comes last. @type {readonly
 * import('./workload.mjs').Workload[]}
 */
export const workloads = [
  open,
  bulkInsert,
  firstAnswer,
  everything,
  heap,
  gets,
  equality,
  range,
  scan,
  sorted,
  count,
  live,
  inserts,
  updates,
  deletes,
];
