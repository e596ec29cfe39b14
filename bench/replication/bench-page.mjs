import { launch } from '../limits/measure-workload.mjs';

/**
 * Runs something with a new browser, whose pages come from a handler process.
 *
 * @param {import('./servers.mjs').Servers} servers
 * @param {(open: () => Promise<import('playwright-core').Page>) => Promise<void>} use gets what
 *   opens a page
 */
export async function withBrowser({ origins }, use) {
  const browser = await launch();
  const open = async () => {
    const page = await browser.newPage(`${origins[0]}/bench/limits/page/index.html`);
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') console.warn(message.text());
    });
    return page;
  };
  try {
    await use(open);
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
