/** The page's functions for the driver. */
import { loadCairn, loadedParts } from '../../page/cairn-build.mjs';
import { peers } from '../../page/peers.mjs';
import { fill, perform, rehearse, verify } from '../../page/perform.mjs';

/** @typedef {import('../../page/cairn-build.mjs').CairnBuild} CairnBuild */

/**
 * @typedef {Omit<import('../../page/session.mjs').Given, 'peer' | 'libraries'> & { peer: string,
 *   cairn: CairnBuild }} Request with the name of the peer
 */

/** @param {Request} request @returns {import('../../page/session.mjs').Given} */
function understand({ peer: name, cairn, ...given }) {
  const peer = peers.find((each) => each.name === name);
  if (!peer) throw new Error(`There is no peer ${name}.`);
  return { ...given, peer, libraries: { cairn: () => loadCairn(cairn) } };
}

const bench = {
  rehearse: async (/** @type {Request} */ request) => {
    await rehearse(understand(request));
    return loadedParts(request.cairn);
  },
  fill: (/** @type {Request} */ request) => fill(understand(request)),
  perform: (/** @type {string} */ workload, /** @type {Request} */ request) =>
    perform(workload, understand(request)),
  verify: (/** @type {Request} */ request) => verify(understand(request)),
};

Object.assign(globalThis, { bench });

/** @typedef {typeof bench} Bench */
