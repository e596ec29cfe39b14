import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inject } from 'vitest';
import { Child, makeFolder, removeFolder } from '../../tools/browsers/child.mjs';
import type { Share } from './page/run-suites.ts';
import { type StaticServerOptions, serveFolder } from './static-server.ts';
import { ROOT, run, unpackInto, userEnvironment } from './tarball.ts';

/** A served app that uses the package. */
export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

/** A way to build an app; none has a configuration for the worker. */
export interface Consumer {
  readonly name: string;
  /** The expected source of the worker. */
  readonly started: 'file' | 'inline';
  /**
   * Whether the contract runs with caching: the engine is the same everywhere, so each does one.
   */
  readonly caching: boolean;
  /**
   * The share of the contract: three run a third each. `npm run test:fixtures` has the other
   * bundlers.
   */
  readonly share: Share | undefined;
  serve(): Promise<Served>;
}

/** The whole app: the tests do the rest from outside. */
const SCRIPT = (from: string, replication: string) => `
  import * as cairndb from '${from}';
  import * as replication from '${replication}';
  Object.assign(globalThis, { cairndb, replication });
`;
const PACKAGED = SCRIPT('cairndb', 'cairndb/replication');
export const PAGE = (script: string) =>
  `<!doctype html>\n<meta charset="utf-8">\n<title>An app</title>\n${script}\n`;

const VITE_APP = {
  'index.html': PAGE('<script type="module" src="/src/index.js"></script>'),
  'src/index.js': PACKAGED,
};

/** Bundlers that do not read HTML find the page in their output folder already. */
const bundledApp = (script: string) => ({
  'dist/index.html': PAGE(`<script type="module" src="${script}"></script>`),
  'src/index.js': PACKAGED,
});

const PLAIN_PAGE = {
  'index.html': PAGE('<script type="module" src="index.js"></script>'),
  'index.js': SCRIPT(
    './node_modules/cairndb/dist/cairndb.js',
    './node_modules/cairndb/dist/replication.js',
  ),
};

export const VITE = join(ROOT, 'node_modules/vite/bin/vite.js');
export const ESBUILD = join(ROOT, 'node_modules/esbuild/bin/esbuild');

export const consumers: readonly Consumer[] = [
  {
    name: 'Vite, dev server',
    started: 'file',
    caching: false,
    share: undefined,
    serve: serveByVite,
  },
  {
    name: 'Vite, build',
    started: 'file',
    caching: true,
    share: { first: 0, of: 3 },
    serve: () => serveBuilt(VITE_APP, process.execPath, [VITE, 'build']),
  },
  {
    // it does not copy the worker file
    name: 'esbuild',
    started: 'inline',
    caching: true,
    share: { first: 2, of: 3 },
    serve: () => {
      const args = ['src/index.js', '--bundle', '--format=esm', '--splitting', '--outdir=dist'];
      return serveBuilt(bundledApp('index.js'), ESBUILD, args);
    },
  },
  {
    name: 'a page without a bundler',
    started: 'file',
    caching: false,
    share: { first: 1, of: 3 },
    serve: servePlainPage,
  },
];

/** A page that imports the package by its URL. */
export async function servePlainPage(options?: StaticServerOptions): Promise<Served> {
  return serveUntilClosed(await makeApp(PLAIN_PAGE), options);
}

/** A new folder with the installed package and these files. */
export async function makeApp(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = makeFolder('app');
  const manifest = JSON.stringify({ name: 'app', private: true, type: 'module' });
  for (const [path, text] of Object.entries({ 'package.json': manifest, ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  await unpackInto(folder, inject('tarball'));
  return folder;
}

/** An app that its bundler has built. */
export async function serveBuilt(
  files: Readonly<Record<string, string>>,
  command: string,
  args: readonly string[],
  options?: StaticServerOptions,
): Promise<Served> {
  const folder = await makeApp(files);
  await run(command, args, folder);
  // away from node_modules, as on a web host
  const published = makeFolder('published');
  cpSync(join(folder, 'dist'), published, { recursive: true });
  removeFolder(folder);
  return serveUntilClosed(published, options);
}

/** Serves a folder and finally removes it. */
export async function serveUntilClosed(
  folder: string,
  options?: StaticServerOptions,
): Promise<Served> {
  const server = await serveFolder(folder, options);
  return {
    url: server.url,
    async close() {
      await server.close();
      removeFolder(folder);
    },
  };
}

async function serveByVite(): Promise<Served> {
  const folder = await makeApp(VITE_APP);
  const args = [VITE, folder, '--host', '127.0.0.1', '--port', '0'];
  const vite = new Child(process.execPath, args, userEnvironment());
  const [, url] = await vite.waitFor(/Local:\s+(http:\S+)/, 60_000);
  return {
    url: String(url),
    async close() {
      await vite.end();
      removeFolder(folder);
    },
  };
}

/** An app in one classic script: it has no `import.meta.url` to locate the worker file. */
export function serveClassicScript(): Promise<Served> {
  const app = {
    ...bundledApp(''),
    'dist/index.html': PAGE('<script src="main.js"></script>'),
  };
  const args = ['src/index.js', '--bundle', '--outfile=dist/main.js'];
  return serveBuilt(app, ESBUILD, args);
}
