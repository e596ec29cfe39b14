/**
 * node tools/pack.mjs FOLDER: packs the built package into that folder, and prints the path of the
 * tarball. node tools/pack.mjs --write, --remove: what npm runs around a pack of its own.
 *
 * Parcel, and TypeScript with `moduleResolution: node`, do not read `exports`: for them the tarball
 * has a folder with a package.json for each subpath. They are written for the pack alone.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './setup.mjs';

/** @typedef {{ types: string, default: string }} Target */

/** @returns {[path: string, target: Target][]} */
function subpaths() {
  /** @type {{ exports: Record<string, Target | string> }} */
  const { exports } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  return Object.entries(exports).flatMap(([path, target]) =>
    path === '.' || typeof target === 'string' ? [] : [[path, target]],
  );
}

function writeFolders() {
  for (const [path, target] of subpaths()) {
    // './server/files' is two folders deep.
    const up = '../'.repeat(path.split('/').length - 1);
    const from = (/** @type {string} */ file) => file.replace('./', up);
    const manifest = { type: 'module', main: from(target.default), types: from(target.types) };
    mkdirSync(join(ROOT, path), { recursive: true });
    writeFileSync(join(ROOT, path, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  }
}

function removeFolders() {
  // Inner folders stand behind the outer ones.
  for (const [path] of subpaths().reverse()) {
    const folder = join(ROOT, path);
    rmSync(join(folder, 'package.json'), { force: true });
    if (readdirSync(folder).length === 0) rmdirSync(folder);
  }
}

const [argument = '.'] = process.argv.slice(2);
if (argument === '--write') writeFolders();
else if (argument === '--remove') removeFolders();
else {
  writeFolders();
  try {
    const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', argument];
    const packed = execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8' });
    console.log(join(argument, JSON.parse(packed)[0].filename));
  } finally {
    removeFolders();
  }
}
