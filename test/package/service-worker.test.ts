import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../tools/browsers/chromium.mjs';
import { makeApp, type Served, serveUntilClosed } from './consumers.ts';

/** A service worker that runs {@link useAll} and returns its outcome. */
const serviceWorker = (file: string) => `
import * as cairndb from './node_modules/cairndb/dist/${file}';
onmessage = async ({ ports: [port] }) => {
  try {
    port.postMessage(await (${useAll})(cairndb));
  } catch ({ name, code, message }) {
    port.postMessage({ name, code, message });
  }
};
`;

let chromium: Awaited<ReturnType<typeof launchChromium>>;
let app: Served;

beforeAll(async () => {
  app = await serveUntilClosed(
    await makeApp({
      'index.html': '<!doctype html>\n<title>An app</title>\n',
      'static.js': serviceWorker('static.js'),
      'index.js': serviceWorker('index.js'),
    }),
  );
  chromium = await launchChromium();
});

afterAll(async () => {
  await chromium?.close();
  await app?.close();
});

/** The answer of a service worker from an unbundled module. */
async function answerOf(script: string): Promise<unknown> {
  const page = await chromium.newPage();
  try {
    await page.goto(app.url);
    return await page.evaluate(ask, script);
  } finally {
    await page.close();
  }
}

test('a service worker from an unbundled module works with cairndb/static', async () => {
  expect(await answerOf('static.js')).toEqual({
    found: 1,
    theme: 'green',
    live: 1,
    count: 1,
    loop: 1,
    sync: 1,
    storage: 'best_effort',
    imported: 2,
    memory: 1,
    status: { engine: 'thread', storage: 'indexeddb', state: 'open' },
  });
});

test('with cairndb every call rejects and names the remedy', async () => {
  expect(await answerOf('index.js')).toEqual({
    name: 'CairnError',
    code: 'load_failed',
    message: expect.stringMatching(/import 'cairndb\/static'/),
  });
});

/** Runs in the page. */
async function ask(script: string): Promise<unknown> {
  const registered = await navigator.serviceWorker.register(script, { type: 'module' });
  const worker = registered.installing ?? registered.waiting ?? registered.active;
  const { port1, port2 } = new MessageChannel();
  const answer = new Promise((resolve) => {
    port1.onmessage = ({ data }) => resolve(data);
  });
  worker?.postMessage('begin', [port2]);
  const data = await answer;
  await registered.unregister();
  return data;
}

/** Runs in the service worker. Uses every part that `cairndb` loads on demand. */
async function useAll({ Database, memoryDriver }: typeof import('cairndb')) {
  const db = new Database({ name: 'shop' });
  db.on('quota', () => undefined);
  const orders = new db.Collection<{ total: number }>({
    name: 'orders',
    type: 'DOCUMENT_BASED',
    caching: true,
  });
  const settings = new db.Collection<string>({
    name: 'settings',
    type: 'KEY_VALUE_BASED',
    caching: true,
  });
  await orders.insert({ total: 12 });
  await settings.set('theme', 'green');
  await Promise.all([orders.ready, settings.ready]);
  const live = await orders.live({}).ready;
  const count = await orders.liveCount().ready;
  const loop: number[] = [];
  for await (const data of orders.live({})) {
    loop.push(data.length);
    break;
  }
  const file = await new Response(await db.exportAll()).blob();
  const memory = new Database({ name: 'memory', storage: memoryDriver() });
  const notes = new memory.Collection({ name: 'notes', type: 'DOCUMENT_BASED' });
  await notes.insert({});
  const result = {
    found: (await orders.filter({ total: { $gt: 10 } })).length,
    theme: settings.sync.get('theme'),
    live: live.data.length,
    count: count.data,
    loop: loop[0],
    sync: orders.sync.filter({}).length,
    storage: await db.storage.status,
    imported: await db.importAll(file),
    memory: await notes.count(),
  };
  const { engine, storage, state } = db.status;
  await Promise.all([db.close(), memory.close()]);
  return { ...result, status: { engine, storage, state } };
}
