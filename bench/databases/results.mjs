/**
 * The results of a run.
 *
 * @typedef {object} Results
 * @property {string} at when it was measured
 * @property {string} commit of Cairn
 * @property {import('../shared/machine.mjs').Machine} machine
 * @property {number} seed
 * @property {number} rounds how many were run
 * @property {number} bytesADocument as JSON, on average
 * @property {(Pick<import('../page/peer.mjs').Peer, 'name' | 'title' | 'kind' | 'keeps' |
 *   'resident' | 'runs' | 'resolved' | 'usage'> & { savedBy: string | undefined, versions:
 *   Record<string, string> })[]} contenders
 * @property {import('./measure-databases.mjs').Measured[]} measured
 * @property {import('./measure-databases.mjs').Failure[]} failures
 * @property {import('./measure-databases.mjs').Round[]} [long] those that were measured once, as
 *   `--once` says
 */

export {};
