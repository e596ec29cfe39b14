import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type InlineConfig, preview } from 'vite';
import { makeFolder, removeFolder } from '../../tools/browsers/child.mjs';
import { RemotePage } from './remote-page.ts';

const configFile = fileURLToPath(new URL('../../vite.config.ts', import.meta.url));

/** A path as a project's page may have: the playground must not care where it is. */
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

/** Serves it at an origin of its own: `url` for a browser, `remote` drives what opens `remoteUrl`. */
export async function servePlayground(outDir: string) {
  const remote = new RemotePage();
  const server = await preview({
    ...configFor(outDir),
    base: BASE,
    plugins: [
      {
        name: 'remote-page',
        configurePreviewServer({ middlewares }) {
          middlewares.use(remote.middleware);
          middlewares.use(`${BASE}remote.html`, (_request, response, next) => {
            response.setHeader('Content-Type', 'text/html');
            withScript(join(outDir, 'index.html')).then((html) => response.end(html), next);
          });
        },
      },
    ],
  });
  const url = server.resolvedUrls?.local[0] ?? '';
  return { url, remote, remoteUrl: `${url}remote.html`, close: () => server.close() };
}

/** The page with the script that lets the test drive it. */
async function withScript(file: string): Promise<string> {
  const html = await readFile(file, 'utf8');
  return html.replace('</head>', '<script type="module" src="/remote/script.js"></script></head>');
}
