import { mkdirSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { ROOT } from '../../tools/setup.mjs';

/** The folder of results, ignored by Git. */
export const FOLDER = `${ROOT}bench/results`;

/**
 * @param {{ at: string }} results @param {string} what @returns {string} the path of the file, as
 *   seen from the repository
 */
export function writeResults(results, what) {
  mkdirSync(FOLDER, { recursive: true });
  const file = `${FOLDER}/${results.at.replaceAll(':', '-')}-${what}.json`;
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  return relative(ROOT, file);
}
