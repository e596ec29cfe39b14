import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeFolder } from '../../tools/browsers/child.mjs';
import { launchChromium } from '../../tools/browsers/chromium.mjs';
import { makeApp, PAGE } from './consumers.ts';

/** An extension without a bundler: its pages and its service worker share one database. */
const EXTENSION = {
  'manifest.json': JSON.stringify({
    manifest_version: 3,
    name: 'Notes',
    version: '1.0',
    action: { default_popup: 'popup.html' },
    background: { service_worker: 'worker.js', type: 'module' },
    permissions: ['offscreen'],
  }),
  'worker.js': `
import { Database } from './cairndb/static.js';

const db = new Database({ name: 'notes' });
const notes = new db.Collection({ name: 'notes', type: 'DOCUMENT_BASED' });
const started = Date.now() + Math.random();

async function answer({ insert, offscreen }) {
  if (insert) {
    await notes.insert({ _id: insert });
    await db.save(); // the browser may stop this worker after the answer
  }
  if (offscreen)
    await chrome.offscreen.createDocument({
      url: 'offscreen.html', reasons: ['WORKERS'], justification: 'The database of the notes',
    });
  const { engine, storage } = db.status;
  return { ids: (await notes.filter({})).map(({ _id }) => _id), engine, storage, started };
}

chrome.runtime.onMessage.addListener((message, sender, respond) => {
  if (message.to !== 'worker') return false;
  answer(message).then(respond, ({ code, message }) => respond({ code, message }));
  return true; // later
});
`,
  'popup.html': PAGE('<script type="module" src="page.js"></script>'),
  'offscreen.html': PAGE('<script type="module" src="offscreen.js"></script>'),
  'page.js': `
import { connect } from './cairndb/cairndb.js';

const db = connect({ name: 'notes' });
const notes = new db.Collection({ name: 'notes', type: 'DOCUMENT_BASED' });
const live = notes.live({});
live.subscribe(() => undefined);
Object.assign(globalThis, { db, notes, live });
`,
  'offscreen.js': `
import './page.js';

await notes.insert({ _id: 'offscreen' });
await db.save();
`,
};

let folder: string;
let chromium: Awaited<ReturnType<typeof launchChromium>>;
let address: string;
const problems: string[] = [];

beforeAll(async () => {
  folder = await makeApp(EXTENSION);
  cpSync(join(folder, 'node_modules/cairndb/dist'), join(folder, 'cairndb'), { recursive: true });
  const args = [
    `--disable-extensions-except=${folder}`,
    `--load-extension=${folder}`,
    '--disable-features=DisableLoadExtensionCommandLineSwitch',
  ];
  chromium = await launchChromium({ args });
  const [running] = chromium.context.serviceWorkers();
  const worker = running ?? (await chromium.context.waitForEvent('serviceworker'));
  address = new URL('popup.html', worker.url()).href;
});

afterAll(async () => {
  await chromium?.close();
  if (folder) removeFolder(folder);
});

async function openPopup(): Promise<Page> {
  const page = await chromium.newPage();
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  await page.goto(address);
  await page.waitForFunction(() => 'notes' in window);
  return page;
}

/** Asks the service worker, which starts if it was stopped. */
const ask = (page: Page, message: object): Promise<any> =>
  page.evaluate((said) => (globalThis as any).chrome.runtime.sendMessage(said), {
    to: 'worker',
    ...message,
  });
const insert = (page: Page, _id: string) =>
  page.evaluate((id) => (globalThis as any).notes.insert({ _id: id }), _id);
const ids = (page: Page): Promise<string[]> =>
  page.evaluate(async () =>
    (await (globalThis as any).notes.filter({})).map((one: any) => one._id),
  );
const shown = (page: Page): Promise<string[]> =>
  page.evaluate(() => (globalThis as any).live.getSnapshot().data?.map((one: any) => one._id));

/** Stops all service workers, as the browser does with those that are idle. */
async function stopWorkers(page: Page): Promise<void> {
  const session = await chromium.context.newCDPSession(page);
  await session.send('ServiceWorker.enable');
  await session.send('ServiceWorker.stopAllWorkers');
  await session.detach();
}

test('pages, the service worker and an offscreen document share a database', async () => {
  const popup = await openPopup();
  await insert(popup, 'popup');
  const first = await ask(popup, { insert: 'worker' });
  expect(first).toMatchObject({ ids: ['popup', 'worker'], storage: 'indexeddb' });
  await expect.poll(() => shown(popup)).toEqual(['popup', 'worker']);

  await stopWorkers(popup);
  await insert(popup, 'while it is stopped');
  expect(await popup.evaluate(() => (globalThis as any).db.status)).toMatchObject({
    ...{ leader: true, engine: 'worker', started: 'file', storage: 'indexeddb' },
  });
  const second = await ask(popup, { insert: 'started again' });
  expect(second.started).not.toBe(first.started);
  expect(second.ids).toEqual([...['popup', 'worker', 'while it is stopped', 'started again']]);

  await ask(popup, { offscreen: true });
  await expect.poll(() => shown(popup)).toContain('offscreen');
  await expect.poll(async () => (await ask(popup, {})).ids).toContain('offscreen');
  await popup.close();
});

test('a popup that is closed in the middle of its work loses nothing', async () => {
  const popup = await openPopup();
  await insert(popup, 'last words');
  await popup.close();
  const next = await openPopup();
  await expect.poll(() => ids(next)).toContain('last words');
  await expect.poll(async () => (await ask(next, {})).ids).toContain('last words');
});

test('nothing was reported on a console', () => {
  expect(problems).toEqual([]);
});
