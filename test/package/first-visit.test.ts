import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../tools/browsers/chromium.mjs';
import { installPackages } from '../../tools/fixtures/install.mjs';
import { fixtures } from '../../tools/fixtures/list.mjs';
import {
  ESBUILD,
  makeApp,
  PAGE,
  type Served,
  serveBuilt,
  serveUntilClosed,
  VITE,
} from './consumers.ts';
import type { StaticServerOptions } from './static-server.ts';

/** Most files of scripts for a first insert, find and live query. */
const MOST_SCRIPTS = 5;

let chromium: Awaited<ReturnType<typeof launchChromium>>;

beforeAll(async () => {
  chromium = await launchChromium();
});

afterAll(async () => {
  await chromium?.close();
});

const script = (from: string) =>
  `import * as cairndb from '${from}'; Object.assign(globalThis, { cairndb });`;
const HTML = PAGE('<script type="module" src="index.js"></script>');

/**
 * An app that the bundler of a fixture builds; `npm run test:fixtures` counts in the other ones.
 */
function builtBy(name: string, bin: string, args: string[], options: StaticServerOptions) {
  const fixture = fixtures.find((each) => each.name === name);
  if (!fixture) throw new Error(`No fixture ${name}`);
  const program = join(installPackages(fixture), 'node_modules/.bin', bin);
  const index = PAGE('<script src="main.js"></script>');
  const files = { 'dist/index.html': index, 'src/index.js': script('cairndb') };
  return serveBuilt(files, program, [...args, '--mode', 'production'], options);
}

const apps: Record<string, (options: StaticServerOptions) => Promise<Served>> = {
  Vite: (options) => {
    const index = PAGE('<script type="module" src="/src/index.js"></script>');
    const files = { 'index.html': index, 'src/index.js': script('cairndb') };
    return serveBuilt(files, process.execPath, [VITE, 'build'], options);
  },
  webpack: (options) => builtBy('webpack-5', 'webpack', [], options),
  Rspack: (options) => builtBy('rspack-2', 'rspack', ['build'], options),
  'esbuild, with splitting': (options) => {
    const files = { 'dist/index.html': HTML, 'src/index.js': script('cairndb') };
    const args = ['src/index.js', '--bundle', '--format=esm', '--splitting', '--outdir=dist'];
    return serveBuilt(files, ESBUILD, args, options);
  },
  'no bundler': async (options) => {
    const index = script('./node_modules/cairndb/dist/cairndb.js');
    return serveUntilClosed(await makeApp({ 'index.html': HTML, 'index.js': index }), options);
  },
};

/**
 * Holds the requests of scripts until there are two: one that waits for another would never come.
 */
class Gate {
  readonly scripts: string[] = [];
  /** The scripts after the entry. */
  readonly later: string[] = [];
  #isEntry = true;
  #waiting: (() => void)[] = [];

  readonly hold = (path: string): Promise<void> => {
    if (!path.endsWith('.js')) return Promise.resolve();
    this.scripts.push(path);
    if (this.#isEntry) return Promise.resolve();
    this.later.push(path);
    return new Promise((answer) => {
      this.#waiting.push(answer);
      if (this.later.length >= 2) for (const next of this.#waiting.splice(0)) next();
    });
  };

  /** The entry has loaded. */
  close(): void {
    this.#isEntry = false;
  }
}

test.each(Object.entries(apps))('%s: one step after the entry, few files', async (name, serve) => {
  const gate = new Gate();
  const app = await serve({ hold: gate.hold });
  const page = await chromium.newPage();
  try {
    await page.goto(app.url);
    await page.waitForFunction(() => 'cairndb' in globalThis);
    gate.close();
    expect(await page.evaluate(insertAndFind)).toEqual({ found: 1, live: 1, engine: 'worker' });
    // esbuild puts code that two lazy files share into a file of its own, behind the first of them.
    expect(gate.later).toHaveLength(name.startsWith('esbuild') ? 3 : 2);
    // With the app's own file a page without a bundler has one more, and esbuild cuts the entry,
    // too.
    const more = { 'no bundler': 1, 'esbuild, with splitting': 2 }[name] ?? 0;
    expect(gate.scripts.length).toBeLessThanOrEqual(MOST_SCRIPTS + more);
  } finally {
    await page.close();
    await app.close();
  }
});

test('a constructor alone requests the page and the worker, and no second worker beside a leader', async () => {
  const gate = new Gate();
  const app = await apps['no bundler']?.({ hold: gate.hold });
  const page = await chromium.newPage();
  const other = await chromium.newPage();
  try {
    await page.goto(String(app?.url));
    await page.waitForFunction(() => 'cairndb' in globalThis);
    gate.close();
    await page.evaluate(construct);
    await expect
      .poll(() => gate.later.map((path) => path.split('/').at(-1)).sort())
      .toEqual(['page.js', 'worker.js']);
    await page.evaluate(insertAndFind);
    await other.goto(String(app?.url));
    await other.waitForFunction(() => 'cairndb' in globalThis);
    expect((await other.evaluate(insertAndFind)).engine).toBe('tab');
    expect(gate.later.filter((path) => path.endsWith('/worker.js'))).toHaveLength(1);
  } finally {
    await other.close();
    await page.close();
    await app?.close();
  }
});

/* These run in the page. */

function construct(): void {
  const { connect } = (globalThis as any).cairndb;
  connect({ name: 'first visit' });
}

async function insertAndFind() {
  const { connect } = (globalThis as any).cairndb;
  const db = connect({ name: 'first visit' });
  const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED', indexes: ['total'] });
  await orders.upsert({ _id: 'a', total: 12 });
  const found = (await orders.filter({ total: 12 })).length;
  const live = orders.live({ total: 12 });
  await live.ready;
  return { found, live: live.getSnapshot().data.length, engine: db.status.engine as string };
}
