import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../tools/browsers/chromium.mjs';
import { isNight } from '../setup/at-night.ts';
import { consumers, type Served, serveClassicScript } from './consumers.ts';
import { bundleContract } from './contract-script.ts';
import type { TestResult } from './page/run-suites.ts';
import { REPLICATED, replicateOrders, startSyncServer } from './sync-server.ts';

let chromium: Awaited<ReturnType<typeof launchChromium>>;
let contract: string;
let server: Served;

beforeAll(async () => {
  if (isNight) contract = await bundleContract();
  server = await startSyncServer();
  chromium = await launchChromium();
});

afterAll(async () => {
  await chromium?.close();
  await server?.close();
});

// One after the other: a browser has six connections to a host, and each client holds one by its
// stream. Those of three pages would leave none for pulls.
test.for(consumers)(
  '$name: started from $started, replicates, and at night passes its share of the contract',
  async ({ name, serve, started, caching, share }, { expect }) => {
    const app = await serve();
    const page = await chromium.newPage();
    try {
      const errors: Error[] = [];
      page.on('pageerror', (error) => errors.push(error));
      await page.goto(app.url);
      expect(await page.evaluate(startedFrom)).toBe(started);
      const orders = `${server.url}/${encodeURIComponent(name)}`;
      expect(await page.evaluate(replicateOrders, orders)).toEqual(REPLICATED);
      expect(errors).toEqual([]);
      if (!share || !isNight) return;
      await page.addScriptTag({ content: contract });
      const results: TestResult[] = await page.evaluate(
        `runContract(${caching}, ${JSON.stringify(share)})`,
      );
      expect(results.filter(({ state }) => state !== 'pass')).toEqual([]);
      expect(results.length).toBeGreaterThan(100);
      expect(errors).toEqual([]);
    } finally {
      await page.close();
      await app.close();
    }
  },
);

test('an app in one classic script, without a URL of the worker file: started from inline', async () => {
  const app = await serveClassicScript();
  const page = await chromium.newPage();
  try {
    await page.goto(app.url);
    expect(await page.evaluate(startedFrom)).toBe('inline');
  } finally {
    await page.close();
    await app.close();
  }
});

/** Runs in the page. */
async function startedFrom(): Promise<string | undefined> {
  const { connect } = (globalThis as any).cairndb;
  const connection = connect({ name: 'shop' });
  await connection.ready;
  const { started } = connection.status;
  await connection.close();
  return started;
}
