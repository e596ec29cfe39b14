import { workloads as inPage } from '../page/workloads.mjs';

/**
 * @typedef {Pick<import('../page/workload.mjs').Workload, 'name' | 'title' | 'metrics'>} Described
 */

/** Metrics that the driver measures outside the page. @type {readonly Described[]} */
const aroundThePage = [
  {
    name: 'disk',
    title: 'Bytes on disk',
    metrics: {
      MB: {
        what: 'size of the profile after inserting all documents, browser closed',
        unit: 'MB',
      },
    },
  },
  {
    name: 'bundle',
    title: 'Code that page and worker load, gzip',
    metrics: {
      JavaScript: {
        what: 'loaded by all workloads, with the adapter of the benchmark',
        unit: 'kB',
      },
      'WebAssembly and its data': { what: 'the same', unit: 'kB' },
    },
  },
];

/** All workloads. @type {readonly Described[]} */
export const workloads = [...inPage, ...aroundThePage];
