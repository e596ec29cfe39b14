import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';

/** @type {Record<string, string>} */
const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
  '.data': 'application/octet-stream',
};

/**
 * Files by path. Read once, so that a concurrent build does not change the measured code.
 *
 * @param {Record<string, string>} folders by where they are served
 */
function readFiles(folders) {
  /** @type {Map<string, Buffer>} */
  const files = new Map();
  const add = (/** @type {string} */ from, /** @type {string} */ to) => {
    for (const name of readdirSync(from)) {
      const path = join(from, name);
      if (statSync(path).isDirectory()) add(path, `${to}/${name}`);
      else if (extname(name) in TYPES) files.set(`${to}/${name}`, readFileSync(path));
    }
  };
  for (const [to, from] of Object.entries(folders)) add(from, to);
  return files;
}

/** Each contender has its own path prefix, to attribute the loaded files. */
const ASKED = /^\/as\/([^/]+)(\/.*)$/;

/** @param {string} pathname */
function understand(pathname) {
  const [, who = '', path = pathname] = ASKED.exec(pathname) ?? [];
  return { who: decodeURIComponent(who), path };
}

/**
 * Serves pages on the loopback interface.
 *
 * @param {Record<string, string>} folders by where they are served, as `/dist`
 * @param {import('node:http').RequestListener} [answerApi] answers POST requests, and all below
 *   `/sync/`, so that a page finds an API at its own origin
 * @returns {Promise<Server>}
 *
 * @typedef {object} Server
 * @property {(who?: string) => string} origin for somebody with a name, or nobody; without a slash
 *   in the end
 * @property {(who: string) => ReadonlyMap<string, Buffer>} loadedBy files by path
 * @property {() => void} close
 */
export function startServer(folders, answerApi) {
  const files = readFiles(folders);
  /** @type {Map<string, Map<string, Buffer>>} */
  const loaded = new Map();
  const loadedBy = (/** @type {string} */ who) => {
    const own = loaded.get(who) ?? new Map();
    loaded.set(who, own);
    return own;
  };
  const server = createServer((request, response) => {
    const { method, url = '/' } = request;
    // The API has a GET of its own, of what is no file.
    if (answerApi && (method === 'POST' || url.startsWith('/sync/'))) {
      answerApi(request, response);
      return;
    }
    const { who, path } = understand(new URL(url, 'http://localhost').pathname);
    const content = files.get(path);
    if (!content) {
      response.writeHead(404).end();
      return;
    }
    loadedBy(who).set(path, content);
    response.writeHead(200, {
      'Content-Type': TYPES[extname(path)],
      'Cache-Control': 'max-age=3600',
      // Isolated pages have a clock resolution of 5 µs, others of 100.
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Embedder-Policy': 'require-corp',
    });
    response.end(content);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      const host = `http://127.0.0.1:${port}`;
      const origin = (who = '') => (who ? `${host}/as/${encodeURIComponent(who)}` : host);
      const close = () => {
        server.close();
        server.closeAllConnections();
      };
      resolve({ origin, loadedBy, close });
    });
  });
}
