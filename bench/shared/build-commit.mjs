import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { makeFolder, removeFolder } from '../../tools/browsers/child.mjs';
import { ROOT } from '../../tools/setup.mjs';

const BUILDS = `${ROOT}node_modules/.cache/cairn-bench/builds`;

/** @param {string} command @param {string[]} args @param {string} cwd */
function run(command, args, cwd) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`);
  return stdout.trim();
}

/**
 * Builds the library of a commit with the installed packages. Leaves the work tree untouched and
 * caches builds.
 *
 * @param {string} name of the commit, or of a branch or tag
 * @returns {{ commit: string, folder: string }}
 */
export function buildCommit(name) {
  const commit = run('git', ['rev-parse', '--short', `${name}^{commit}`], ROOT);
  const folder = `${BUILDS}/${commit}`;
  if (existsSync(folder)) return { commit, folder };
  console.log(`building Cairn at ${commit}`);
  const source = makeFolder('commit');
  try {
    run('git', ['archive', '--output', `${source}/source.tar`, commit], ROOT);
    run('tar', ['-xf', 'source.tar'], source);
    symlinkSync(`${ROOT}node_modules`, `${source}/node_modules`, 'dir');
    run(`${ROOT}node_modules/.bin/tsdown`, [], source);
    mkdirSync(BUILDS, { recursive: true });
    run('cp', ['-r', `${source}/dist`, `${folder}.part`], ROOT);
    nameEntry(`${folder}.part`);
    renameSync(`${folder}.part`, folder);
  } finally {
    removeFolder(source);
  }
  return { commit, folder };
}

/**
 * Gives the entry of earlier builds, `index.js`, the name that pages ask for.
 *
 * @param {string} folder
 */
function nameEntry(folder) {
  const entry = `${folder}/cairndb.js`;
  if (!existsSync(entry)) writeFileSync(entry, "export * from './index.js';\n");
}
