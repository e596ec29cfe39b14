import type { Workload } from '../../../bench/page/workload.mjs';
import { workloads } from '../../../bench/page/workloads.mjs';

/** A displayed metric of a workload of `npm run bench`. */
export interface Shown {
  readonly workload: string;
  readonly metric: string;
  readonly title: string;
  readonly unit: string;
}

/** In the order in which the work is done. */
export const SHOWN: readonly Shown[] = [
  shown('bulk-insert', 'durable', 'Insert all, until durable'),
  shown('bulk-insert', 'longest block', 'Longest block of the page'),
  shown('first-answer', 'ms', 'Reopen and find 200 by an index'),
  shown('gets', 'at once', 'Get 1,000 by id, at once'),
  shown('equality', 'ms', 'Find 200 by an index'),
  shown('scan', 'ms', 'Find a tenth without an index'),
  shown('sort-limit', 'ms', 'First 20 to 60 in the order of an index'),
  shown('updates', 'durable', 'Update 1,000 at random, until durable'),
];

export const SHOWN_WORKLOADS: readonly Workload[] = workloads.filter(({ name }) =>
  SHOWN.some(({ workload }) => workload === name),
);

function shown(workload: string, metric: string, title: string): Shown {
  const unit = workloads.find(({ name }) => name === workload)?.metrics[metric]?.unit;
  if (!unit) throw new Error(`The benchmark has no ${metric} of ${workload}.`);
  return { workload, metric, title, unit };
}
