/**
 * @typedef {typeof import('../../src/index.ts')} Library
 * @typedef {typeof import('../../src/encryption/index.ts')} Encryption
 *
 * @typedef {object} Session milliseconds
 * @property {number} acknowledged `insertMany` until it is acknowledged
 * @property {number} saved `insertMany` until it is saved
 * @property {number} single one `insert` until it is acknowledged, one after the other
 * @property {number} together 2,000 inserts at once until all are acknowledged
 * @property {number} opening until an empty query is answered, after `close()`
 * @property {number} query until a query over an index is answered, after `close()`
 */

const SINGLE = 200;
const TOGETHER = 2000;

/**
 * Runs in a page: writes documents and opens the database again, plain or encrypted.
 *
 * @param {{ name: string, encrypts: boolean, count: number, single: number, together: number }}
 *   options
 * @returns {Promise<Session>}
 */
async function measure({ name, encrypts, count, single, together }) {
  const [library, encryption] = ['/dist/cairndb.js', '/dist/encryption.js'];
  /** @type {Library} */
  const { connect } = await import(library);
  /** @type {Encryption} */
  const { encrypted } = await import(encryption);
  const open = () => {
    const key = new Uint8Array(32).fill(4);
    const db = connect({ name, storage: encrypts ? encrypted('indexeddb', { key }) : 'indexeddb' });
    return {
      db,
      rows: new db.Collection({ name: 'rows', type: 'DOCUMENT_BASED', indexes: ['n', 'group'] }),
    };
  };
  const { db, rows } = open();
  await rows.insert({ n: -1 });
  await rows.save();
  const documents = Array.from({ length: count }, (_, n) => ({
    n,
    group: `group ${n % 100}`,
    text: `Some text of row ${n}, as long as that of a short note in an app.`,
  }));
  const start = performance.now();
  await rows.insertMany(documents);
  const acknowledged = performance.now() - start;
  await rows.save();
  const saved = performance.now() - start;
  const before = performance.now();
  for (let n = 0; n < single; n++) await rows.insert({ n, group: 'single' });
  const each = (performance.now() - before) / single;
  await rows.save();
  const from = performance.now();
  await Promise.all(
    Array.from({ length: together }, (_, n) => rows.insert({ n, group: 'together' })),
  );
  const all = performance.now() - from;
  await db.close();

  const opened = performance.now();
  const again = open();
  await again.rows.ready;
  const opening = performance.now() - opened;
  const found = await again.rows.filter({ group: 'group 7' });
  const query = performance.now() - opened;
  if (found.length !== Math.ceil((count - 7) / 100)) throw new Error(`found ${found.length}`);
  await again.db.destroy();
  return { acknowledged, saved, single: each, together: all, opening, query };
}

/**
 * @param {import('playwright-core').Page} page
 * @param {{ name: string, encrypts: boolean, count: number }} options
 */
export const runSession = (page, options) =>
  page.evaluate(measure, { ...options, single: SINGLE, together: TOGETHER });
