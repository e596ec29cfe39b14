import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
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
  for (const each of Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }))
    if (each !== 'cairndb') link(each, folder);
  const programs = join(folder, 'node_modules/.bin');
  cpSync(join(ROOT, 'node_modules/.bin'), programs, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !/\/\.bin\/./.test(path) || /\/(vite|vue-tsc|svelte-check)$/.test(path),
  });
  // In this repository another package has a program of that name.
  symlinkSync('../typescript/bin/tsc', join(programs, 'tsc'));
  await run('npm', ['run', 'build'], folder);
  return folder;
}

/** As npm would install it; a package that comes with it is found beside the linked one. */
function link(name: string, folder: string): void {
  const target = join(folder, 'node_modules', name);
  mkdirSync(dirname(target), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', name), target);
}

/** The examples that are a list of tasks. */
export const taskLists = readdirSync(join(ROOT, 'examples')).filter(
  (name) => !['sync-postgres', 'shared-text'].includes(name),
);
