import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../tools/browsers/chromium.mjs';
import { builtApps } from './built-apps.ts';

/** Most files of scripts for a first insert, find and live query. */
const MOST_SCRIPTS = 5;

let chromium: Awaited<ReturnType<typeof launchChromium>>;

beforeAll(async () => {
  chromium = await launchChromium();
});

afterAll(async () => {
  await chromium?.close();
});

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

test.each(Object.entries(builtApps))(
  '%s: one step after the entry, few files',
  async (name, serve) => {
    const gate = new Gate();
    const app = await serve({ hold: gate.hold });
    const page = await chromium.newPage();
    try {
      await page.goto(app.url);
      await page.waitForFunction(() => 'cairndb' in globalThis);
      gate.close();
      expect(await page.evaluate(insertAndFind)).toEqual({ found: 1, live: 1, engine: 'worker' });
      expect(gate.later).toHaveLength(2);
      // The app's own file is one more without a bundler.
      const more = name === 'no bundler' ? 1 : 0;
      expect(gate.scripts.length).toBeLessThanOrEqual(MOST_SCRIPTS + more);
    } finally {
      await page.close();
      await app.close();
    }
  },
);

test('a constructor alone requests the page and the worker, and no second worker beside a leader', async () => {
  const gate = new Gate();
  const app = await builtApps['no bundler']?.({ hold: gate.hold });
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
