import { execFileSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { extname, join } from 'node:path';
import { makeFolder, removeFolder } from '../../tools/browsers/child.mjs';

/**
 * How a visit loads: milliseconds before each answer of the server, whether the browser may keep
 * files, and how many times slower the processor of the page is.
 *
 * @typedef {{ title: string, latency: number, cached: boolean, slower: number }} Circumstances
 */

/** @type {Record<string, string>} */
const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
};

/**
 * Serves the built apps. The circumstances of the answers can be exchanged.
 *
 * @param {string} folder
 * @param {boolean} http2 instead of HTTP/1.1; needs openssl: browsers speak HTTP/2 over TLS alone
 */
export async function serveApps(folder, http2) {
  /** @type {Circumstances} */
  let current = { title: '', latency: 0, cached: false, slower: 1 };
  /** @param {any} request @param {any} response */
  const answer = (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const type = TYPES[extname(pathname)];
    const send = () => {
      if (!type) return response.writeHead(404).end();
      const keep = current.cached && type !== 'text/html' ? 'max-age=3600, immutable' : 'no-store';
      response.writeHead(200, { 'content-type': type, 'cache-control': keep });
      return response.end(readFileSync(join(folder, pathname)));
    };
    if (current.latency > 0) setTimeout(send, current.latency);
    else send();
  };
  const certificate = http2 ? makeCertificate() : undefined;
  const server = certificate ? createSecureServer(certificate, answer) : createServer(answer);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    /** Flags of Chromium, which keeps no file of a server that it does not trust. */
    flags: certificate ? [`--ignore-certificate-errors-spki-list=${fingerprint(certificate)}`] : [],
    url: (/** @type {string} */ app) =>
      `${http2 ? 'https' : 'http'}://127.0.0.1:${port}/${app}/index.html`,
    use: (/** @type {Circumstances} */ next) => {
      current = next;
    },
    close: () => {
      if ('closeAllConnections' in server) server.closeAllConnections();
      server.close();
    },
  };
}

/** A certificate of this run alone. */
function makeCertificate() {
  const folder = makeFolder('certificate');
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  try {
    const files = ['-keyout', key, '-out', cert];
    execFileSync('openssl', ['req', '-x509', ...curve, ...subject, ...files], { stdio: 'pipe' });
    return { key: readFileSync(key), cert: readFileSync(cert) };
  } finally {
    removeFolder(folder);
  }
}

/** @param {{ cert: Buffer }} certificate */
function fingerprint({ cert }) {
  const key = new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(key).digest('base64');
}
