import { launch } from '../limits/measure-workload.mjs';

/**
 * Runs something with a new browser, in a page that a handler process serves.
 *
 * @template T
 * @param {string} origin
 * @param {(page: import('playwright-core').Page) => Promise<T>} use
 */
export async function withPage(origin, use) {
  const browser = await launch();
  try {
    const page = await browser.newPage(`${origin}/bench/limits/page/index.html`);
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') console.warn(message.text());
    });
    return await use(page);
  } finally {
    await browser.close();
  }
}

/**
 * Calls a function of a file in `bench/replication/page`.
 *
 * @param {import('playwright-core').Page} page
 * @param {string} file
 * @param {string} name
 * @param {object} input
 * @returns {Promise<any>}
 */
export const callInPage = (page, file, name, input) =>
  page.evaluate(
    async ([path, what, given]) => (await import(path))[what](given),
    /** @type {const} */ ([`/bench/replication/page/${file}`, name, input]),
  );
