/**
 * @typedef {object} Contender a peer as it takes part in a run
 * @property {string} name
 * @property {string} title
 * @property {import('../page/peer.mjs').Peer} peer
 * @property {string} cairn the folder of the server with the build of Cairn for it
 */

/**
 * @param {import('../page/peer.mjs').Peer} peer
 * @param {string} cairn
 * @param {string} [suffix] tells it from the same peer with another build
 * @returns {Contender}
 */
export const contend = (peer, cairn, suffix = '') => ({
  name: `${peer.name}${suffix}`,
  title: `${peer.title}${suffix}`,
  peer,
  cairn,
});

/** Whether it is a build of Cairn. @param {{ readonly name: string }} contender */
export const isCairn = ({ name }) => name.startsWith('cairn');
