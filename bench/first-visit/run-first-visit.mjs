import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { launchChromium } from '../../tools/browsers/chromium.mjs';
import { ROOT } from '../../tools/setup.mjs';
import { summarize } from '../page/statistics.mjs';
import { buildIfStale } from '../shared/build.mjs';
import { wholeNumber } from '../shared/whole-number.mjs';
import { serveApps } from './app-server.mjs';

const FOLDER = `${ROOT}node_modules/.cache/cairn-bench/first-visit`;
const PAGES = fileURLToPath(new URL('page', import.meta.url));
/** To this one the others are compared. */
const BASE = 'dexie';
const APPS = ['cairn-worker', 'cairn-thread', BASE, 'rxdb', 'tanstack', 'sqlite'];

/** @typedef {import('./app-server.mjs').Circumstances} Circumstances */

/**
 * Those without a cache come first: what a browser has kept it goes on using. @type {readonly
 * Circumstances[]}
 */
const CIRCUMSTANCES = [
  { title: 'no cache, 0 ms', latency: 0, cached: false, slower: 1 },
  { title: 'no cache, 20 ms', latency: 20, cached: false, slower: 1 },
  { title: 'no cache, 100 ms', latency: 100, cached: false, slower: 1 },
  { title: 'warm cache', latency: 0, cached: true, slower: 1 },
  { title: 'warm cache, processor 4 times slower', latency: 0, cached: true, slower: 4 },
];

/** The same before any visit has read what is stored. @type {Circumstances} */
const UNREAD = { title: 'no cache, 0 ms, never read', latency: 0, cached: false, slower: 1 };

/** Milliseconds of the one visit before: a user looks at what has come. */
const STAY = 5000;

/** Each app by itself, as its author would build it. */
async function buildApps() {
  for (const app of APPS) {
    await build({
      root: PAGES,
      configFile: false,
      base: './',
      logLevel: 'error',
      resolve: { alias: { cairndb: `${ROOT}dist/cairndb.js` } },
      worker: { format: 'es' },
      plugins: [
        {
          name: 'app-of-the-page',
          transformIndexHtml: { order: 'pre', handler: (html) => html.replaceAll('APP', app) },
        },
      ],
      build: {
        outDir: join(FOLDER, app),
        emptyOutDir: true,
        reportCompressedSize: false,
      },
    });
  }
}

/**
 * One visit in a new page.
 *
 * @param {Awaited<ReturnType<typeof launchChromium>>} chromium
 * @param {string} url
 * @param {number} slower
 * @param {number} [stay] milliseconds until the page is left
 */
async function visit(chromium, url, slower, stay = 0) {
  const page = await chromium.newPage();
  try {
    if (slower > 1) {
      const session = await page.context().newCDPSession(page);
      await session.send('Emulation.setCPUThrottlingRate', { rate: slower });
    }
    // Waiting by a function of the page would run scripts in the middle of the visit.
    const isOver = page.waitForEvent('console', {
      predicate: (message) => message.text() === 'visited',
      timeout: 120_000,
    });
    await page.goto(url);
    await isOver;
    const visited = await page.evaluate(() => {
      const { visited } = /** @type {any} */ (globalThis);
      const files = performance.getEntriesByType('resource').length;
      return { ...visited, files };
    });
    await new Promise((resolve) => setTimeout(resolve, stay));
    if (visited.found === 0) throw new Error(`${url} found nothing: its figures would be wrong.`);
    return visited;
  } finally {
    await page.close();
  }
}

/** @param {string[]} args `--rounds N`, `--size N`, `--http2` */
export async function runFirstVisit(args) {
  const option = (/** @type {string} */ name, /** @type {number} */ otherwise) => {
    const at = args.indexOf(`--${name}`);
    return at < 0 ? otherwise : wholeNumber(args[at + 1] ?? '', `--${name}`);
  };
  const rounds = option('rounds', 7);
  const size = option('size', 10_000);
  buildIfStale();
  await buildApps();
  const http2 = args.includes('--http2');
  const server = await serveApps(FOLDER, http2);
  const chromium = await launchChromium({ args: server.flags });
  try {
    for (const app of APPS) await visit(chromium, `${server.url(app)}?fill=${size}`, 1);
    console.log(
      `First answer, ${http2 ? 'HTTP/2' : 'HTTP/1.1'}, ${size} documents, ms from navigation (from the script), medians of ${rounds}\n`,
    );
    console.log(`| | ${APPS.map((app) => `${app} | / ${BASE}`).join(' | ')} |`);
    console.log(`|---|${APPS.map(() => '--:|--:').join('|')}|`);
    for (const circumstances of [UNREAD, ...CIRCUMSTANCES]) {
      server.use(circumstances);
      console.log(await rowOf(circumstances, { chromium, server, rounds }));
      if (circumstances === UNREAD)
        for (const app of APPS) await visit(chromium, server.url(app), 1, STAY);
    }
  } finally {
    await chromium.close();
    server.close();
  }
}

/**
 * @param {Circumstances} circumstances
 * @param {{ chromium: Awaited<ReturnType<typeof launchChromium>>, server: Awaited<ReturnType<typeof
 *   serveApps>>, rounds: number }} run
 */
async function rowOf({ title, slower }, { chromium, server, rounds }) {
  /** @type {Map<string, any[]>} */
  const visits = new Map(APPS.map((app) => [app, []]));
  // The first two fill the cache, with the compiled code too.
  for (let round = -2; round < rounds; round++) {
    for (const app of APPS) {
      const visited = await visit(chromium, server.url(app), slower);
      if (round >= 0) visits.get(app)?.push(visited);
    }
  }
  const of = (/** @type {string} */ app, /** @type {(visited: any) => number} */ what) =>
    summarize((visits.get(app) ?? []).map(what)).median;
  const base = of(BASE, ({ answer }) => answer);
  const cells = APPS.map((app) => {
    const answer = of(app, (visited) => visited.answer);
    const script = of(app, (visited) => visited.answer - visited.script);
    return `${answer.toFixed(0)} (${script.toFixed(0)}), ${of(app, ({ files }) => files)} files | ${(answer / base).toFixed(2)}`;
  });
  return `| ${title} | ${cells.join(' | ')} |`;
}
