import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { ROOT } from '../tools/setup.mjs';

/** @type {Record<string, string>} */
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript' };

/**
 * What is served: the benchmark, Dexie, mingo, and a build of the library. Read once, so that a build made
 * meanwhile does not change what is measured.
 *
 * @param {string} dist
 */
function readFiles(dist) {
  /** @type {Map<string, Buffer>} */
  const files = new Map();
  const add = (/** @type {string} */ from, /** @type {string} */ to) => {
    for (const name of readdirSync(from)) {
      const path = join(from, name);
      if (statSync(path).isDirectory()) add(path, `${to}/${name}`);
      else if (extname(name) in TYPES) files.set(`${to}/${name}`, readFileSync(path));
    }
  };
  add(`${ROOT}bench`, '/bench');
  add(`${ROOT}node_modules/dexie/dist/modern`, '/node_modules/dexie/dist/modern');
  add(`${ROOT}node_modules/mingo/dist`, '/node_modules/mingo/dist');
  add(dist, '/dist');
  return files;
}

/**
 * Serves pages to this machine alone.
 *
 * @param {string} dist
 * @returns {Promise<{ origin: string, close: () => void }>}
 */
export function startServer(dist) {
  const files = readFiles(dist);
  const server = createServer(({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    const content = files.get(pathname);
    if (!content) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, {
      'Content-Type': TYPES[extname(pathname)],
      'Cache-Control': 'max-age=3600',
      // Isolated pages have clocks of 5 µs, others of 100.
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Embedder-Policy': 'require-corp',
    });
    response.end(content);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      const close = () => {
        server.close();
        server.closeAllConnections();
      };
      resolve({ origin: `http://127.0.0.1:${port}`, close });
    });
  });
}
