import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { launchChromium } from '../../tools/browsers/chromium.mjs';
import { ROOT } from '../../tools/setup.mjs';
import { summarize } from '../page/statistics.mjs';
import { wholeNumber } from '../shared/whole-number.mjs';

/** What is built, and by which command. */
const SITES = [
  { title: 'the playground', folder: 'demo/dist', command: 'npx vite build' },
  { title: 'home of the site', folder: 'site/dist', command: 'npm run docs' },
];

/** Slow 4G and a mid-range phone, as Lighthouse asks the devtools protocol for them. */
const SLOW_4G = {
  offline: false,
  latency: 562.5,
  downloadThroughput: (1474.56 * 1024) / 8,
  uploadThroughput: (675 * 1024) / 8,
};
const CIRCUMSTANCES = [
  { title: 'no limits', slower: 1, network: undefined },
  { title: 'processor 4 times slower', slower: 4, network: undefined },
  { title: 'the same, slow 4G', slower: 4, network: SLOW_4G },
];

/** Milliseconds after `load`, in which a late font or picture would move something. */
const STAY = 3000;

/** @type {Record<string, string>} */
const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

/** @param {string} folder */
async function serve(folder) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const file = `${ROOT}${folder}${pathname.replace(/\/$/, '/index.html')}`;
    if (!existsSync(file)) return response.writeHead(404).end();
    const type = TYPES[extname(file)];
    const content = readFileSync(file);
    const headers = { 'content-type': type ?? 'application/octet-stream' };
    if (!type) return response.writeHead(200, headers).end(content);
    return response
      .writeHead(200, { ...headers, 'content-encoding': 'gzip' })
      .end(gzipSync(content));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

/**
 * A first visit, in a browser of its own: nothing is cached, no worker of the service runs.
 *
 * @param {string} url
 * @param {(typeof CIRCUMSTANCES)[number]} circumstances
 */
async function visit(url, { slower, network }) {
  const chromium = await launchChromium();
  try {
    const page = await chromium.newPage();
    const session = await page.context().newCDPSession(page);
    if (slower > 1) await session.send('Emulation.setCPUThrottlingRate', { rate: slower });
    await session.send('Network.enable');
    if (network) await session.send('Network.emulateNetworkConditions', network);
    await page.addInitScript(() => {
      const seen = { largest: 0, shift: 0 };
      /** @type {any} */ (globalThis).seen = seen;
      const observe = (/** @type {string} */ type, /** @type {(entry: any) => void} */ note) =>
        new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({
          type,
          buffered: true,
        });
      observe('largest-contentful-paint', ({ startTime }) => (seen.largest = startTime));
      observe('layout-shift', ({ value }) => (seen.shift += value));
    });
    await page.goto(url, { waitUntil: 'load', timeout: 120_000 });
    await page.waitForTimeout(STAY);
    return await page.evaluate(() => {
      const paint = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0;
      const files = /** @type {PerformanceResourceTiming[]} */ ([
        ...performance.getEntriesByType('navigation'),
        ...performance.getEntriesByType('resource'),
      ]).filter(({ responseEnd }) => responseEnd > 0 && responseEnd <= paint);
      const bytes = files.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
      return { .../** @type {any} */ (globalThis).seen, paint, files: files.length, bytes };
    });
  } finally {
    await chromium.close();
  }
}

/** @param {string[]} args `--rounds N` */
export async function runFirstPaint(args) {
  const at = args.indexOf('--rounds');
  const rounds = at < 0 ? 5 : wholeNumber(args[at + 1] ?? '', '--rounds');
  console.log(`First visit, nothing cached, gzip, HTTP/1.1, medians of ${rounds}\n`);
  console.log('| | | first contentful paint, ms | largest, ms | layout shift | loaded before |');
  console.log('|---|---|--:|--:|--:|--:|');
  for (const { title, folder, command } of SITES) {
    if (!existsSync(`${ROOT}${folder}/index.html`)) throw new Error(`Build ${title}: ${command}`);
    const server = await serve(folder);
    for (const circumstances of CIRCUMSTANCES) {
      /** @type {any[]} */
      const visits = [];
      for (let round = 0; round < rounds; round++)
        visits.push(await visit(server.url, circumstances));
      const of = (/** @type {string} */ what) => summarize(visits.map((one) => one[what])).median;
      const loaded = `${of('files')} files, ${(of('bytes') / 1000).toFixed(0)} kB`;
      const times = `${of('paint').toFixed(0)} | ${of('largest').toFixed(0)}`;
      console.log(
        `| ${title} | ${circumstances.title} | ${times} | ${of('shift').toFixed(3)} | ${loaded} |`,
      );
    }
    server.close();
  }
}
