import children from './workloads/children.mjs';
import group from './workloads/group.mjs';
import included from './workloads/included.mjs';
import liveGroup from './workloads/live-group.mjs';
import liveInclude from './workloads/live-include.mjs';

/** @type {import('../limits/workload.mjs').Workload[]} */
export const workloads = [included, children, liveInclude, group, liveGroup];
