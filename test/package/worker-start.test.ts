import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../tools/browsers/chromium.mjs';
import { servePlainPage } from './consumers.ts';
import type { Answer, StaticServerOptions } from './static-server.ts';

let chromium: Awaited<ReturnType<typeof launchChromium>>;

beforeAll(async () => {
  chromium = await launchChromium();
});

afterAll(async () => {
  await chromium?.close();
});

interface Circumstances {
  readonly what: string;
  readonly options: StaticServerOptions;
  /** Where the engine runs. */
  readonly started: string;
}

const workerFile = (answer: Answer) => ({ instead: { '/dist/worker.js': answer } });
const policy = (value: string) => ({ headers: { 'content-security-policy': value } });

const circumstances: Circumstances[] = [
  {
    what: "a policy of 'self' alone",
    options: policy("default-src 'self'"),
    started: 'file',
  },
  {
    what: 'the worker file is missing',
    options: workerFile({ status: 404 }),
    started: 'inline',
  },
  {
    what: 'every path answers with the page of the app',
    options: workerFile({ body: '<!doctype html>' }),
    started: 'inline',
  },
  {
    what: 'the worker file fails',
    options: workerFile(script('throw new Error("damaged")')),
    started: 'inline',
  },
  {
    what: 'a policy without workers',
    options: policy("worker-src 'none'"),
    started: 'thread',
  },
  {
    what: 'a policy of trusted types',
    options: policy("require-trusted-types-for 'script'"),
    started: 'thread',
  },
];

test.each(circumstances)('$what: $started', async ({ options, started }) => {
  const { status, saved, loaded, warnings } = await withPage(options, storeAndFind, undefined);
  expect(status).toMatchObject({
    started,
    engine: started === 'thread' ? 'thread' : 'worker',
    storage: 'indexeddb',
    last_error: undefined,
  });
  expect(saved).toEqual([{ total: 12 }]);
  // 46 kB (gzip) that a page does not need if its worker has them.
  expect(loaded.some((url) => url.endsWith('/thread.js'))).toBe(started === 'thread');
  expect(warnings).toEqual(
    started === 'thread' ? [expect.stringContaining('cairndb runs in this thread')] : [],
  );
});

test('a package from another origin: a Blob imports its worker file, and that a part', async () => {
  const cdn = await servePlainPage({ headers: { 'access-control-allow-origin': '*' } });
  const app = await servePlainPage();
  const page = await chromium.newPage();
  try {
    await page.goto(app.url);
    const url = `${cdn.url}node_modules/cairndb/dist/cairndb.js`;
    const content = `import * as cairndb from '${url}'; globalThis.fromElsewhere = cairndb;`;
    await page.addScriptTag({ type: 'module', content });
    await page.waitForFunction('globalThis.fromElsewhere');
    const { started, parts, loaded } = await page.evaluate(async () => {
      const { connect } = (globalThis as any).fromElsewhere;
      const connection = connect({ name: 'shop' });
      const orders = new connection.Collection({ name: 'orders', type: 'DOCUMENT_BASED' });
      await orders.createBackup();
      const { started, parts } = connection.status;
      await connection.close();
      const loaded = performance.getEntriesByType('resource').map(({ name }) => name);
      return { started, parts, loaded };
    });
    expect({ started, parts }).toEqual({ started: 'inline', parts: ['backups'] });
    // The second copy of the worker is not loaded.
    expect(loaded.filter((url) => url.endsWith('/inline.js'))).toEqual([]);
  } finally {
    await page.close();
    await app.close();
    await cdn.close();
  }
});

test.each(['worker', 'factory'] as const)('a given %s is used', async (kind) => {
  const { status, saved } = await withPage({}, storeAndFind, { kind, path: WORKER });
  expect(status).toMatchObject({ started: 'given', engine: 'worker', storage: 'indexeddb' });
  expect(saved).toEqual([{ total: 12 }]);
});

test.each([
  ['has no file', workerFile({ status: 404 })],
  ['fails', workerFile(script('throw new Error("of its own")'))],
  ['runs something else', workerFile(script('onmessage = () => postMessage("hello")'))],
])('a given worker that %s: worker_start_failed', async (_name, options) => {
  const error = withPage(options, storeAndFind, { kind: 'factory', path: WORKER });
  await expect(error).rejects.toThrow(/WorkerError worker_start_failed .* module cairndb\/worker/);
});

const WORKER = './node_modules/cairndb/dist/worker.js';

function script(body: string): Answer {
  return { type: 'text/javascript', body };
}

/** A worker given by the page. */
interface Given {
  readonly kind: 'worker' | 'factory';
  readonly path: string;
}

/** The result of a function in a new page, with the warnings meanwhile. */
async function withPage<T extends object>(
  options: StaticServerOptions,
  inPage: (given: Given | undefined) => Promise<T>,
  given: Given | undefined,
): Promise<T & { warnings: string[] }> {
  const app = await servePlainPage(options);
  const page = await chromium.newPage();
  try {
    const warnings: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'warning') warnings.push(message.text());
    });
    await page.goto(app.url);
    return { ...(await page.evaluate(inPage, given)), warnings };
  } finally {
    await page.close();
    await app.close();
  }
}

/** Runs in the page. */
async function storeAndFind(given: Given | undefined) {
  const { connect } = (globalThis as any).cairndb;
  const make = () => new Worker((given as Given).path, { type: 'module' });
  const worker = given && (given.kind === 'factory' ? make : make());
  const connection = connect({ name: 'shop', worker });
  try {
    const orders = new connection.Collection({ name: 'orders', type: 'DOCUMENT_BASED' });
    await orders.insert({ total: 12 });
    await connection.save();
    const found: { total: number }[] = await orders.filter({ total: { $gt: 10 } });
    const { status } = connection;
    await connection.close();
    const loaded = performance.getEntriesByType('resource').map(({ name }) => name);
    return { status, saved: found.map(({ total }) => ({ total })), loaded };
  } catch (error) {
    const { name, code, message } = error as any;
    throw new Error(`${name} ${code} ${message}`);
  }
}
