/**
 * @typedef {object} WorkloadResult
 * @property {string} name
 * @property {string} title
 * @property {number} rounds
 * @property {number} load how busy the machine was with other work, from 0 to 1
 * @property {import('./measure-workload.mjs').Measured[]} measured
 * @property {import('./limits.mjs').Checked[]} checked
 *
 * @typedef {object} Results
 * @property {string} at when it was measured
 * @property {boolean} smoke whether the figures mean nothing
 * @property {import('../shared/machine.mjs').Machine} machine
 * @property {WorkloadResult[]} workloads
 */

export {};
