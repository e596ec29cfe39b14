import { existsSync, readdirSync, statSync } from 'node:fs';

/**
 * Bytes that a file or a folder takes.
 *
 * @param {string} path
 * @returns {number}
 */
export function bytesIn(path) {
  if (!existsSync(path)) return 0;
  const status = statSync(path);
  // allocated blocks: sparse files are longer than their data
  if (!status.isDirectory()) return Math.min(status.size, status.blocks * 512);
  return readdirSync(path).reduce((sum, name) => sum + bytesIn(`${path}/${name}`), 0);
}
