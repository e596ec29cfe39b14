import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installPackages } from '../../../tools/fixtures/install.mjs';
import { makeApp, type Served, serveUntilClosed } from '../consumers.ts';
import { ROOT, run } from '../tarball.ts';

interface Manifest {
  readonly scripts: { readonly build: string };
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** Runs `npm run build` of an example as a user would, and serves the result. */
export async function buildExample(name: string): Promise<Served> {
  return serveUntilClosed(join(await builtExample(name), 'dist'));
}

/** The folder of an example that was built with the packed package. */
export async function builtExample(name: string): Promise<string> {
  const folder = await makeApp({});
  cpSync(join(ROOT, 'examples', name), folder, {
    recursive: true,
    filter: (path) => !/node_modules|dist$/.test(path),
  });
  const manifest: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { cairndb: _, ...packages } = { ...manifest.dependencies, ...manifest.devDependencies };
  const installed = installedFor(name, packages);
  for (const each of Object.keys(packages)) link(each, folder, installed);
  const programs = join(folder, 'node_modules/.bin');
  cpSync(join(installed, 'node_modules/.bin'), programs, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !/\/\.bin\/./.test(path) || /\/(vite|vue-tsc|svelte-check|ng)$/.test(path),
  });
  // In this repository another package has a program of that name.
  symlinkSync('../typescript/bin/tsc', join(programs, 'tsc'));
  await run('npm', ['run', 'build'], folder);
  return folder;
}

/** A folder with the packages: of this repository, or one of their own where it lacks some. */
function installedFor(name: string, packages: Record<string, string>): string {
  const isHere = (each: string) => existsSync(join(ROOT, 'node_modules', each));
  if (Object.keys(packages).every(isHere)) return ROOT;
  return installPackages({ name: `example-${name}`, packages });
}

/** As npm would install it; a package that comes with it is found beside the linked one. */
function link(name: string, folder: string, installed: string): void {
  const target = join(folder, 'node_modules', name);
  mkdirSync(dirname(target), { recursive: true });
  symlinkSync(join(installed, 'node_modules', name), target);
}

/** The examples that are a list of tasks. */
export const taskLists = readdirSync(join(ROOT, 'examples')).filter(
  (name) => !['sync-postgres', 'shared-text'].includes(name),
);
