import { afterAll, beforeAll, expect, test } from 'vitest';
import { PART_NAMES } from '../../src/protocol/parts.ts';
import { launchChromium } from '../../tools/browsers/chromium.mjs';
import { builtApps } from './built-apps.ts';
import { servePlainPage } from './consumers.ts';

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof launchChromium>>['newPage']>>;

let chromium: Awaited<ReturnType<typeof launchChromium>>;

beforeAll(async () => {
  chromium = await launchChromium();
});

afterAll(async () => {
  await chromium?.close();
});

/** What a host answers for a file that it does not have, or that another deploy has replaced. */
const REFUSALS = [
  { status: 404 },
  { contentType: 'text/html', body: '<!doctype html>' },
  { contentType: 'text/javascript', body: 'export default 1;' },
];

test.each(Object.entries(builtApps))(
  '%s: a part loads with its first call, and not from another file',
  async (name, serve) => {
    // esbuild emits no files beside its own: the worker from a Blob has all parts with it.
    const isFile = !name.startsWith('esbuild');
    const requests: string[] = [];
    const app = await serve({ hold: async (path) => void requests.push(path) });
    const page = await chromium.newPage();
    try {
      await page.goto(app.url);
      await page.waitForFunction(() => 'cairndb' in globalThis);
      expect(await page.evaluate(insert, undefined)).toEqual([]);
      for (const answer of isFile ? REFUSALS : []) {
        await page.route('**/*', (route) => route.fulfill(answer));
        await expect(page.evaluate(backUp)).rejects.toThrow('load_failed');
        await page.unrouteAll();
      }
      const before = requests.length;
      expect(await page.evaluate(backUp)).toEqual({ backups: 1, parts: ['backups'] });
      expect(requests.length - before).toBe(isFile ? 1 : 0);
      expect(await page.evaluate(transfer)).toEqual({ n: 2, parts: ['backups', 'transactions'] });
    } finally {
      await page.close();
      await app.close();
    }
  },
);

test('an app names the parts that load at the start', async () => {
  await withPage({}, async (page) => {
    expect(await page.evaluate(insert, [...PART_NAMES])).toEqual([]);
    await expect.poll(() => page.evaluate(loadedParts)).toEqual([...PART_NAMES]);
  });
});

test("a policy of 'self' alone needs no Blob for a part", async () => {
  const headers = { 'content-security-policy': "default-src 'self'" };
  await withPage({ headers }, async (page) => {
    await page.evaluate(insert, undefined);
    expect(await page.evaluate(backUp)).toEqual({ backups: 1, parts: ['backups'] });
    // A text: the test runner would rewrite an import().
    await page.evaluate(
      "import('/node_modules/cairndb/dist/encryption.js').then((code) => Object.assign(globalThis, code))",
    );
    expect(await page.evaluate(encryptFiles)).toEqual({ storage: 'opfs', encrypted: true, n: 7 });
  });
});

test('another script may have added a number to Object.prototype', async () => {
  const app = await servePlainPage();
  const page = await chromium.newPage();
  try {
    await page.addInitScript('Object.prototype.added = 1');
    await page.goto(app.url);
    await page.waitForFunction(() => 'cairndb' in globalThis);
    await page.evaluate(insert, undefined);
    expect(await page.evaluate(transfer)).toMatchObject({ n: 2 });
  } finally {
    await page.close();
    await app.close();
  }
});

test.each([
  ['a backup', 'part-backups.js', 'backUp', { backups: 1, parts: ['backups'] }],
  ['a transaction', 'part-transactions.js', 'transfer', { n: 2, parts: ['transactions'] }],
  ['an update', 'part-updates.js', 'increase', { n: 2, parts: ['updates'] }],
  ['an expression', 'part-expressions.js', 'compare', { n: 1, parts: ['expressions'] }],
  ['a relation', 'part-relations.js', 'include', { n: 1 }],
  ['an explanation', 'part-aggregation.js', 'explain', { returned: 1 }],
  ['a rare operator', 'part-updates.js', 'isNumber', { n: 2 }],
  ['a pattern, with a collation', 'part-updates.js', 'collate', { n: 1 }],
  ['an aggregate', 'part-aggregation.js', 'add', { rows: [{ _id: null, total: 5 }], live: 1 }],
  ['a search', 'part-search.js', 'search', { hits: ['t'], live: 1 }],
  ['nearest', 'part-vectors.js', 'nearest', { hits: ['t'], exact: true }],
] as const)(
  '%s whose part does not load rejects, changes nothing, and succeeds later',
  async (_, file, call, result) => {
    const instead: Record<string, { status: number }> = { [`/dist/${file}`]: { status: 503 } };
    await withPage({ instead }, async (page) => {
      const perform: () => Promise<object> = {
        ...{
          backUp,
          transfer,
          increase,
          compare,
          explain,
          isNumber,
          collate,
          include,
          add,
          search,
          nearest,
        },
      }[call];
      await page.evaluate(insert, undefined);
      await expect(page.evaluate(perform)).rejects.toThrow('load_failed');
      expect(await page.evaluate(countAndInsert)).toEqual({ n: 1, count: 2 });
      delete instead[`/dist/${file}`];
      const again = await page.evaluate(perform);
      expect(again).toMatchObject(result);
    });
  },
);

/** Runs a test in a page without a bundler. */
async function withPage(
  options: Parameters<typeof servePlainPage>[0],
  run: (page: Page) => Promise<void>,
): Promise<void> {
  const app = await servePlainPage(options);
  const page = await chromium.newPage();
  try {
    await page.goto(app.url);
    await page.waitForFunction(() => 'cairndb' in globalThis);
    await run(page);
  } finally {
    await page.close();
    await app.close();
  }
}

/* These run in the page. */

async function insert(parts: string[] | undefined): Promise<string[]> {
  const { connect } = (globalThis as any).cairndb;
  const db = connect({ name: 'parts', parts });
  const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED' });
  await orders.upsert({ _id: 'a', n: 1 });
  await orders.save();
  Object.assign(globalThis, { db, orders });
  if (db.status.engine !== 'worker') throw new Error('The engine runs in no worker.');
  return parts ? [] : db.status.parts;
}

async function backUp() {
  const { db, orders } = globalThis as any;
  try {
    await orders.createBackup();
  } catch (error) {
    throw new Error((error as { code: string }).code);
  }
  return { backups: (await orders.listBackups()).length, parts: db.status.parts };
}

async function transfer() {
  const { db, orders } = globalThis as any;
  try {
    await db.transaction(async (tx: any) => {
      const { n } = await tx(orders).get('a');
      await tx(orders).update('a', { n: n + 1 });
    });
  } catch (error) {
    throw new Error((error as { code: string }).code);
  }
  return { n: (await orders.get('a')).n, parts: db.status.parts };
}

async function increase() {
  const { db, orders } = globalThis as any;
  try {
    await orders.patch('a', { $inc: { n: 1 } });
  } catch (error) {
    throw new Error((error as { code: string }).code);
  }
  return { n: (await orders.get('a')).n, parts: db.status.parts };
}

async function include() {
  const { db, orders } = globalThis as any;
  const jobs = new db.Collection({
    ...{ name: 'jobs', type: 'DOCUMENT_BASED' },
    relations: { order: { one: () => orders, from: 'order_id' } },
  });
  await jobs.upsert({ _id: 'j', order_id: 'a' });
  try {
    const [job] = await jobs.filter({}, { include: { order: true } });
    return { n: job.order.n };
  } catch (error) {
    throw new Error((error as { code: string }).code);
  }
}

async function explain() {
  const { orders } = globalThis as any;
  try {
    const { returned } = await orders.explain({ n: 1 });
    return { returned };
  } catch (error) {
    throw new Error((error as { code: string }).code);
  }
}

async function isNumber() {
  const { orders } = globalThis as any;
  try {
    return { n: await orders.count({ n: { $type: 'number' } }) };
  } catch (error) {
    throw new Error((error as { code: string }).code);
  }
}

/** Of a collection whose index is declared before its part can load. */
async function collate() {
  const { db } = globalThis as any;
  const index = { fields: 'name', collation: 'en' };
  const names = new db.Collection({ name: 'names', type: 'DOCUMENT_BASED', indexes: [index] });
  await names.upsert({ _id: 'n', name: 'Ada' });
  try {
    return { n: await names.count({ name: /^A/ }, { collation: 'en' }) };
  } catch (error) {
    throw new Error((error as { code: string }).code);
  }
}

async function compare() {
  const { db, orders } = globalThis as any;
  try {
    const n = await orders.count({ $expr: { $eq: ['$n', 1] } });
    await orders.get('a');
    return { n, parts: db.status.parts };
  } catch (error) {
    throw new Error((error as { code: string }).code);
  }
}

async function add() {
  const { orders } = globalThis as any;
  try {
    const rows = await orders.aggregate([{ $group: { _id: null, total: { $max: '$n' } } }]);
    const { data } = await orders.liveAggregate([{ $group: { _id: '$n' } }]).ready;
    return { rows, live: data[0]._id };
  } catch (error) {
    throw new Error((error as { code: string }).code);
  }
}

/** Of a collection whose index is declared before its part can load. */
async function search() {
  const { db } = globalThis as any;
  const index = { text: ['text'] };
  const texts = new db.Collection({ name: 'texts', type: 'DOCUMENT_BASED', indexes: [index] });
  await texts.upsert({ _id: 't', text: 'heavy water' });
  try {
    const hits = await texts.search('wat');
    const { data } = await texts.liveSearch('heavy').ready;
    return { hits: hits.map(({ document }: any) => document._id), live: data.length };
  } catch (error) {
    throw new Error((error as { code: string }).code);
  }
}

async function nearest() {
  const { db } = globalThis as any;
  const index = { vector: 'at', dimensions: 2 };
  const points = new db.Collection({ name: 'points', type: 'DOCUMENT_BASED', indexes: [index] });
  try {
    await points.upsert({ _id: 't', at: [1, 2] });
    const hits = await points.nearest([1, 2]);
    const { approximate } = await points.explainNearest([1, 2]);
    return { hits: hits.map(({ document }: any) => document._id), exact: !approximate };
  } catch (error) {
    throw new Error((error as { code: string }).code);
  }
}

async function encryptFiles() {
  const { cairndb, encrypted } = globalThis as any;
  const storage = encrypted('opfs', { key: new Uint8Array(32).fill(3) });
  const db = cairndb.connect({ name: 'sealed', storage });
  const notes = new db.Collection({ name: 'notes', type: 'DOCUMENT_BASED' });
  await notes.insert({ _id: 'a', n: 7 });
  await notes.save();
  const { storage: kind, encrypted: isEncrypted } = db.status;
  return { storage: kind, encrypted: isEncrypted, n: (await notes.get('a')).n };
}

/** Other calls go on. */
async function countAndInsert() {
  const { orders } = globalThis as any;
  await orders.upsert({ _id: 'b', n: 5 });
  return { n: (await orders.get('a')).n, count: await orders.count() };
}

function loadedParts(): string[] {
  return [...(globalThis as any).db.status.parts].sort();
}
