/**
 * @typedef {typeof import('../../src/index.ts')} Library
 * @typedef {typeof import('../../src/encryption/index.ts')} Encryption
 *
 * @typedef {{ leave?: () => Promise<void> }} Scope
 */

/**
 * Runs in a page: opens a database, and tells how long it took.
 *
 * @param {{ name: string, encrypts: boolean, stays: boolean }} options
 * @returns {Promise<number>} milliseconds from `connect()` to the first answer
 */
async function open({ name, encrypts, stays }) {
  const [library, encryption] = ['/dist/cairndb.js', '/dist/encryption.js'];
  /** @type {Library} */
  const { connect } = await import(library);
  /** @type {Encryption} */
  const { encrypted } = await import(encryption);
  const key = new Uint8Array(32).fill(4);
  const start = performance.now();
  const db = connect({ name, storage: encrypts ? encrypted('indexeddb', { key }) : 'indexeddb' });
  const rows = new db.Collection({ name: 'rows', type: 'DOCUMENT_BASED' });
  await rows.count();
  const opening = performance.now() - start;
  const scope = /** @type {Scope} */ (globalThis);
  if (stays) scope.leave = () => db.destroy();
  else await db.close();
  return opening;
}

/** How often a tab that was just loaded opens it beside the leader; the first warms it up. */
const OPENINGS = 6;

/**
 * Openings of a database that another tab has open.
 *
 * @param {import('playwright-core').Page} leader
 * @param {import('playwright-core').Page} follower
 * @param {{ name: string, encrypts: boolean }} database
 * @returns {Promise<number[]>} milliseconds
 */
export async function openBeside(leader, follower, database) {
  await leader.evaluate(open, { ...database, stays: true });
  const times = [];
  for (let n = 0; n < OPENINGS; n++) {
    await follower.reload();
    times.push(await follower.evaluate(open, { ...database, stays: false }));
  }
  await leader.evaluate(() => /** @type {Scope} */ (globalThis).leave?.());
  return times.slice(1);
}
