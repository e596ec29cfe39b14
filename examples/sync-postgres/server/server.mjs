import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname } from 'node:path';
import { createHandler, nodeListener } from 'cairndb/server';
import { documentFiles, postgresFiles } from 'cairndb/server/files';
import { openBrowsers } from './browsers.mjs';
import { openDatabase } from './database.mjs';
import { setUpOrders, takeOrder } from './orders.mjs';
import { rightsOf } from './rights.mjs';
import { addSample } from './sample.mjs';

const { name, query, store, close } = await openDatabase();
const photos = postgresFiles(query);
await store.setup(); // tables and functions, as in cairndb/server/postgres.sql
await photos.setup();
await setUpOrders(query);
await addSample(query);

const sync = createHandler({
  store,
  files: documentFiles({ store: photos }),
  ...rightsOf(query),
});

const APP = new URL('../dist/', import.meta.url);
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
};

async function sendFile(path) {
  const file = new URL(`.${path === '/' ? '/index.html' : path}`, APP);
  const body = await readFile(file).catch(() => undefined);
  if (!body) return new Response('Not found', { status: 404 });
  const type = TYPES[extname(file.pathname)] ?? 'application/octet-stream';
  return new Response(body, { headers: { 'content-type': type } });
}

async function answer(request) {
  const { pathname } = new URL(request.url);
  if (pathname.startsWith('/sync/')) return sync(request);
  if (pathname === '/orders' && request.method === 'POST') return takeOrder(query, request);
  return sendFile(pathname);
}

function fail(error) {
  console.error(error);
  return new Response('The server failed.', { status: 500 }); // the outbox tries again
}

const server = createServer(nodeListener((request) => answer(request).catch(fail)));

server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = server.address();
  // A browser opens six connections to one host, and each scoped collection keeps one busy.
  const hosts = { ada: 'localhost', ben: '127.0.0.1', office: 'localhost' };
  const addresses = Object.entries(hosts).map(
    ([user, host]) => `http://${host}:${port}/?user=${user}`,
  );
  console.log(`${name}. Three devices:\n  ${addresses.join('\n  ')}`);
  openBrowsers(addresses);
});

let isEnding = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, async () => {
    if (isEnding) return; // npm may send it as well
    isEnding = true;
    server.closeAllConnections();
    await close();
    process.exit();
  });
