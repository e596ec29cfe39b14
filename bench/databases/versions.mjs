import { readFileSync } from 'node:fs';
import { ROOT } from '../../tools/setup.mjs';

/** @param {string} folder @returns {string} */
const versionIn = (folder) => JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')).version;

/**
 * The installed versions of a peer's packages. @param {Pick<import('../page/peer.mjs').Peer, 'name'
 * | 'packages'>} peer
 */
export function versionsOf({ name, packages }) {
  if (name.startsWith('cairn')) return { cairndb: versionIn(ROOT) };
  return Object.fromEntries(
    packages.map((each) => [each, versionIn(`${ROOT}node_modules/${each}`)]),
  );
}
