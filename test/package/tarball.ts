import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeFolder, removeFolder } from '../../tools/browsers/child.mjs';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The sources of dist. */
const SOURCES = ['src', 'worker', 'tools/build', 'tsdown.config.ts', 'package.json'];

/** A longer run counts as hung. */
const TIMEOUT_MS = 120_000;

const execute = promisify(execFile);

/**
 * Runs a program in a folder, as from a user's shell: without the environment of Vitest.
 *
 * @param more Environment variables besides those of the shell.
 */
export async function run(
  command: string,
  args: readonly string[],
  folder: string,
  more: NodeJS.ProcessEnv = {},
) {
  const env = { ...userEnvironment(), ...more };
  return execute(command, args, { cwd: folder, env, timeout: TIMEOUT_MS }).catch((error) => {
    // Test runners report there.
    error.message += `\n${error.stdout}`;
    throw error;
  });
}

/** The environment of a shell outside Vitest. */
export function userEnvironment(): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1' };
  const ours = /^(NODE_ENV|NODE_OPTIONS|FORCE_COLOR|VITEST.*|VITE_.*|npm_.*)$/;
  for (const name of Object.keys(env)) if (ours.test(name)) delete env[name];
  return env;
}

/** The package as npm would publish it, after a build if dist is older than its sources. */
export async function packTarball(): Promise<{ path: string; remove: () => void }> {
  if (!isBuilt()) await run('npm', ['run', 'build'], ROOT);
  const folder = makeFolder('tarball');
  const { stdout } = await run(process.execPath, ['tools/pack.mjs', folder], ROOT);
  return { path: stdout.trim(), remove: () => removeFolder(folder) };
}

/** Changes the node_modules of a consumer as an installation does. */
export async function unpackInto(consumer: string, tarball: string): Promise<void> {
  const target = join(consumer, 'node_modules/cairndb');
  mkdirSync(target, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', target, '--strip-components=1'], consumer);
}

/** `npm pack` of a package's folder; returns the path of the tarball. */
export async function packFolder(folder: string, destination: string): Promise<string> {
  const args = ['pack', folder, '--ignore-scripts', '--json', '--pack-destination', destination];
  const { stdout } = await run('npm', args, destination);
  const [{ filename }] = JSON.parse(stdout);
  return join(destination, filename);
}

/** Whether dist is complete and no older than its sources. */
function isBuilt(): boolean {
  const entries = ['index', 'inline', 'worker'].map((name) => join(ROOT, `dist/${name}.js`));
  return entries.every((path) => existsSync(path)) && newest(SOURCES) <= oldest('dist');
}

function newest(paths: readonly string[]): number {
  return Math.max(...paths.flatMap((path) => filesOf(path).map(modifiedAt)));
}

function oldest(path: string): number {
  return Math.min(...filesOf(path).map(modifiedAt));
}

function filesOf(path: string): string[] {
  const full = join(ROOT, path);
  const stats = statSync(full);
  if (!stats.isDirectory()) return [full];
  return readdirSync(full, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const modifiedAt = (path: string): number => statSync(path).mtimeMs;
