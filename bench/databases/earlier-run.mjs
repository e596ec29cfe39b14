import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { ROOT } from '../../tools/setup.mjs';

/** What the figures depend on. */
const MEASURED = ['src', 'worker', 'bench/page', 'package-lock.json'];

/**
 * The results of a run that goes on with more rounds.
 *
 * @param {string} file
 * @param {Pick<import('./options.mjs').Options, 'seed'>} options
 * @returns {import('./results.mjs').Results}
 */
export function readEarlier(file, { seed }) {
  /** @type {import('./results.mjs').Results} */
  const results = JSON.parse(readFileSync(file, 'utf8'));
  if (results.seed !== seed) throw new Error(`${file} has seed ${results.seed}; use --seed.`);
  const { commit } = results;
  const { status } = spawnSync('git', ['diff', '--quiet', commit, '--', ...MEASURED], {
    cwd: ROOT,
  });
  if (status !== 0) {
    throw new Error(
      `${file} is of commit ${commit}, and ${MEASURED.join(', ')} have changed since: start a new run.`,
    );
  }
  return results;
}
