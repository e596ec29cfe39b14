import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type InlineConfig, preview } from 'vite';
import { makeFolder, removeFolder } from '../../tools/browsers/child.mjs';
import { RemotePage } from './remote-page.ts';

const configFile = fileURLToPath(new URL('../../vite.config.ts', import.meta.url));

/** A path like that of a project's page: the playground has to work at any path. */
const BASE = '/some/where/';

const configFor = (outDir: string): InlineConfig => ({
  configFile,
  mode: 'production',
  logLevel: 'error',
  build: { outDir },
  preview: { host: '127.0.0.1', port: 0 },
});

/** The playground, built as for publishing. */
export async function buildPlayground() {
  const outDir = makeFolder('playground');
  const { NODE_ENV } = process.env;
  // Vitest says `test` there, and Vite would not build for publishing.
  process.env.NODE_ENV = 'production';
  await build(configFor(outDir));
  process.env.NODE_ENV = NODE_ENV;
  return { outDir, remove: () => removeFolder(outDir) };
}

/**
 * Serves it at its own origin: `url` for a browser, `remotes` drive the pages at their
 * `remoteUrls`.
 */
export async function servePlayground(outDir: string) {
  const newPage = () => new RemotePage();
  const remotes = [newPage(), newPage(), newPage(), newPage(), newPage()] as const;
  const server = await preview({
    ...configFor(outDir),
    base: BASE,
    plugins: [
      {
        name: 'remote-page',
        configurePreviewServer({ middlewares }) {
          for (const [number, { middleware }] of remotes.entries()) {
            const script = `/remote-${number}/`;
            middlewares.use(script, middleware);
            middlewares.use(`${BASE}remote-${number}.html`, (_request, response, next) => {
              response.setHeader('Content-Type', 'text/html');
              withScript(join(outDir, 'index.html'), `${script}script.js`).then(
                (html) => response.end(html),
                next,
              );
            });
          }
        },
      },
    ],
  });
  const url = server.resolvedUrls?.local[0] ?? '';
  const urlOf = (number: number) => `${url}remote-${number}.html`;
  const remoteUrls = [urlOf(0), urlOf(1), urlOf(2), urlOf(3), urlOf(4)] as const;
  return { url, remotes, remoteUrls, close: () => server.close() };
}

/** The page with the script that lets the test drive it. */
async function withScript(file: string, script: string): Promise<string> {
  const html = await readFile(file, 'utf8');
  return html.replace('</head>', `<script type="module" src="${script}"></script></head>`);
}
