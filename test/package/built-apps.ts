import { join } from 'node:path';
import { installPackages } from '../../tools/fixtures/install.mjs';
import { fixtures } from '../../tools/fixtures/list.mjs';
import {
  ESBUILD,
  makeApp,
  PAGE,
  type Served,
  serveBuilt,
  serveUntilClosed,
  VITE,
} from './consumers.ts';
import type { StaticServerOptions } from './static-server.ts';

const script = (from: string) =>
  `import * as cairndb from '${from}'; Object.assign(globalThis, { cairndb });`;
const HTML = PAGE('<script type="module" src="index.js"></script>');

/**
 * An app that the bundler of a fixture builds; `npm run test:fixtures` counts in the other ones.
 */
function builtBy(name: string, bin: string, args: string[], options: StaticServerOptions) {
  const fixture = fixtures.find((each) => each.name === name);
  if (!fixture) throw new Error(`No fixture ${name}`);
  const program = join(installPackages(fixture), 'node_modules/.bin', bin);
  const index = PAGE('<script src="main.js"></script>');
  const files = { 'dist/index.html': index, 'src/index.js': script('cairndb') };
  return serveBuilt(files, program, [...args, '--mode', 'production'], options);
}

/** Production builds of a page that has `cairndb` on `globalThis`. */
export const builtApps: Record<string, (options: StaticServerOptions) => Promise<Served>> = {
  Vite: (options) => {
    const index = PAGE('<script type="module" src="/src/index.js"></script>');
    const files = { 'index.html': index, 'src/index.js': script('cairndb') };
    return serveBuilt(files, process.execPath, [VITE, 'build'], options);
  },
  webpack: (options) => builtBy('webpack-5', 'webpack', [], options),
  Rspack: (options) => builtBy('rspack-2', 'rspack', ['build'], options),
  'esbuild, with splitting': (options) => {
    const files = { 'dist/index.html': HTML, 'src/index.js': script('cairndb') };
    const args = ['src/index.js', '--bundle', '--format=esm', '--splitting', '--outdir=dist'];
    return serveBuilt(files, ESBUILD, args, options);
  },
  'no bundler': async (options) => {
    const index = script('./node_modules/cairndb/dist/cairndb.js');
    return serveUntilClosed(await makeApp({ 'index.html': HTML, 'index.js': index }), options);
  },
};
