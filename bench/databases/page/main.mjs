/** What the driver calls in the page. */
import { peers } from '../../page/peers.mjs';
import { fill, perform, verify } from '../../page/perform.mjs';

/**
 * @typedef {Omit<import('../../page/session.mjs').Given, 'peer' | 'libraries'> & { peer: string, cairn: string }} Request
 * with the name of the peer, and where the build of Cairn is
 */

/** @param {Request} request @returns {import('../../page/session.mjs').Given} */
function understand({ peer: name, cairn: url, ...given }) {
  const peer = peers.find((each) => each.name === name);
  if (!peer) throw new Error(`There is no peer ${name}.`);
  return { ...given, peer, libraries: { cairn: () => import(/* @vite-ignore */ url) } };
}

const bench = {
  fill: (/** @type {Request} */ request) => fill(understand(request)),
  perform: (/** @type {string} */ workload, /** @type {Request} */ request) =>
    perform(workload, understand(request)),
  verify: (/** @type {Request} */ request) => verify(understand(request)),
};

Object.assign(globalThis, { bench });

/** @typedef {typeof bench} Bench */
