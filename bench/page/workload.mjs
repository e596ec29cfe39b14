/**
 * A workload for every peer.
 *
 * @typedef {object} Workload
 * @property {string} name as on the command line
 * @property {string} title
 * @property {boolean} [reloads] whether it is about what is there after a reload, so that nothing
 *   in memory takes part
 * @property {Record<string, Metric>} metrics
 * @property {(session: import('./session.mjs').Session) => Promise<Record<string, number> |
 *   undefined>} run returns figures by metric, or `undefined` if the peer does not support it
 *
 * @typedef {object} Metric
 * @property {string} what
 * @property {'ms' | 'µs' | 'MB' | 'kB'} unit
 * @property {boolean} [durable] whether it means nothing for who keeps nothing
 * @property {'storage' | 'memory'} [limit] what bounds it: IndexedDB by hand; or loops by hand, for
 *   a peer in a worker behind postMessage
 */

/** Types a workload. @param {Workload} workload */
export const defineWorkload = (workload) => workload;
