/**
 * @typedef {import('playwright-core').Page} Tab
 * @typedef {typeof import('../../src/index.ts')} Library
 *
 * @typedef {object} TabScope what is found in the page of a tab
 * @property {import('../../src/index.ts').Connection} db
 * @property {import('../../src/index.ts').DocumentCollection} things
 * @property {number[]} answered milliseconds at which a call that was made again and again was
 *   answered
 */

/**
 * A tab with the database open, engine in a worker.
 *
 * @param {{ newPage: (url: string) => Promise<Tab> }} browser
 * @param {string} origin
 */
export async function openTab(browser, origin) {
  const tab = await browser.newPage(`${origin}/bench/limits/page/index.html`);
  await tab.evaluate(async (path) => {
    const scope = /** @type {TabScope} */ (/** @type {unknown} */ (window));
    /** @type {Library} */
    const { connect } = await import(path);
    scope.db = connect({ name: 'tabs' });
    scope.things = new scope.db.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
    await scope.things.ready;
  }, '/dist/cairndb.js');
  return tab;
}

/** @param {Tab} tab */
export const leads = (tab) =>
  tab.evaluate(() => /** @type {TabScope} */ (/** @type {unknown} */ (window)).db.status.leader);
