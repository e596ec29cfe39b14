/**
 * Measures the implementations of a checkout of client-side-databases that are built in `dist`: the
 * steps of its `test/e2e.test.ts` and its mean of the faster half, in Chromium by Playwright. The
 * projects take turns, so that other load on the machine is shared.
 *
 *     node ../cairndb/bench/others/client-side-databases-run.mjs cairn rxdb-dexie
 */
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname } from 'node:path';
import { launchChromium } from '../../tools/browsers/chromium.mjs';

const VISITS = 6;
/** @type {Record<string, string>} */
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };
const TYPED = [
  'INSERT_1_MESSAGE',
  'INSERT_20_MESSAGES_SERIAL',
  'INSERT_20_MESSAGES_PARALLEL',
  'MESSAGE_INSERT_TO_MESSAGE_LIST_CHANGE',
];
const SHOWN = [
  'FIRST_FULL_RENDER',
  ...TYPED,
  'SEARCH_RESULT_TIME',
  'FIRST_FULL_RENDER_MANY_MESSAGES',
  'STORAGE_SIZE',
];

/** @param {string} project */
async function serve(project) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const file = `dist/${project}${pathname.replace(/\/$/, '/index.html')}`;
    if (!existsSync(file)) return response.writeHead(404).end();
    const type = TYPES[extname(file)] ?? 'application/octet-stream';
    const headers = { 'content-type': type, 'cache-control': 'max-age=2592000' };
    return response.writeHead(200, headers).end(readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { url: `http://localhost:${port}/?replication=false&add-example-data=true`, server };
}

/** @param {string} project */
async function open(project) {
  const { url, server } = await serve(project);
  const chromium = await launchChromium();
  const page = await chromium.newPage();
  /** @type {{ key: string, value: number }[]} */
  let logged = [];
  page.on('console', (message) => {
    if (message.text().startsWith('{"')) logged.push(JSON.parse(message.text()));
  });
  const logs = async (/** @type {string} */ key) => {
    for (let tries = 0; tries < 600; tries++) {
      const found = logged.find((metric) => metric.key === key);
      if (found) return found.value;
      await page.waitForTimeout(100);
    }
    throw new Error(`${project} did not log ${key}.`);
  };
  const load = async () => {
    logged = [];
    await page.goto(url);
    if (await page.locator('#own-name-submit').isVisible()) await page.click('#own-name-submit');
    await page.locator('.user-with-last-message').nth(8).waitFor({ timeout: 60_000 });
    await page.waitForTimeout(2000);
    return logs('FIRST_FULL_RENDER');
  };
  const send = async (/** @type {string} */ text) => {
    await page.locator('.user-with-last-message').first().click();
    await page.locator('.message-input').first().click();
    await page.keyboard.type(text);
    await page.locator('.message-submit-button').first().click();
    await page.waitForTimeout(1500);
    return logs(text);
  };
  /** @type {Record<string, number[]>} */
  const values = {};
  const note = (/** @type {string} */ key, /** @type {number} */ value) => {
    values[key] ??= [];
    values[key].push(value);
  };
  return {
    project,
    values,
    async visit(/** @type {boolean} */ isFirst) {
      const rendered = await load();
      /** @type {[string, number][]} */
      const all = [['FIRST_FULL_RENDER', rendered]];
      for (const text of TYPED) all.push([text, await send(text)]);
      await page.locator('.user-with-last-message[userid=millie]').first().click();
      await page.waitForTimeout(500);
      await page.locator('.search-input').first().click();
      await page.keyboard.insertText('message');
      // The box listens to keys.
      await page.keyboard.press('Shift');
      all.push(['SEARCH_RESULT_TIME', await logs('SEARCH_RESULT_TIME')]);
      if (!isFirst) for (const [key, value] of all) note(key, value);
    },
    async end() {
      await load();
      await send('INSERT_MANY_MESSAGES');
      await page.waitForTimeout(2000);
      note('FIRST_FULL_RENDER_MANY_MESSAGES', await load());
      await page.evaluate(() => /** @type {any} */ (globalThis).storageSizeMetric());
      note('STORAGE_SIZE', await logs('STORAGE_SIZE'));
      await chromium.close();
      server.close();
    },
  };
}

/** As their `averageOfTimeValues`. @param {number[]} times */
function fasterHalf(times) {
  const kept = times.toSorted((a, b) => a - b).slice(0, Math.ceil(times.length / 2));
  return kept.reduce((sum, time) => sum + time, 0) / kept.length;
}

const apps = await Promise.all(process.argv.slice(2).map(open));
for (let visit = 0; visit < VISITS; visit++) {
  for (const app of apps) await app.visit(visit === 0);
}
for (const app of apps) await app.end();
console.log(`| | ${apps.map(({ project }) => project).join(' | ')} |`);
console.log(`|---|${apps.map(() => '--:').join('|')}|`);
for (const key of SHOWN) {
  const cells = apps.map(({ values }) => fasterHalf(values[key] ?? []).toFixed(1));
  console.log(`| ${key} | ${cells.join(' | ')} |`);
}
