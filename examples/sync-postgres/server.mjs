import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname } from 'node:path';
import { createHandler, nodeListener } from 'cairndb/server';
import { openBrowsers } from './browsers.mjs';
import { openDatabase } from './database.mjs';

const database = await openDatabase();
await database.store.setup(); // tables and functions, as in cairndb/server/postgres.sql

// An app checks here who asks, see "Who may do what" in docs/sync/server.md.
const sync = nodeListener(createHandler({ store: database.store, authorize: () => true }));

const PAGE = new URL('public/', import.meta.url);
// The browser loads its files as they are.
const CAIRN = new URL('.', import.meta.resolve('cairndb'));
const TYPES = { '.html': 'text/html', '.js': 'text/javascript' };

async function serveFile(path, response) {
  const isCairn = path.startsWith('/cairndb/');
  const file = path.slice(isCairn ? '/cairndb/'.length : 1) || 'index.html';
  try {
    const body = await readFile(new URL(`./${file}`, isCairn ? CAIRN : PAGE));
    const type = TYPES[extname(file)] ?? 'application/octet-stream';
    response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(body);
  } catch {
    response.writeHead(404).end('Not found');
  }
}

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname.startsWith('/sync/')) sync(request, response);
  else serveFile(pathname, response);
});

server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = server.address();
  const addresses = [`http://localhost:${port}/`, `http://127.0.0.1:${port}/`];
  console.log(`${database.name}. Two devices:\n  ${addresses.join('\n  ')}`);
  openBrowsers(addresses);
});

let isEnding = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, async () => {
    if (isEnding) return; // npm may send it as well
    isEnding = true;
    server.closeAllConnections();
    await database.close();
    process.exit();
  });
