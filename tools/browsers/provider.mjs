import { defineBrowserProvider } from '@vitest/browser';
import { launchChromium } from './chromium.mjs';
import { ALL_BROWSERS } from './find.mjs';
import { launchFirefox } from './firefox.mjs';
import { launchSafari } from './safari.mjs';
import { launchWebKit } from './webkit.mjs';

/**
 * @typedef {object} OpenPage
 * @property {(url: string) => Promise<void>} goto returns before the tests on the page have ended
 * @property {() => Promise<unknown>} close
 *
 * @typedef {object} OpenBrowser
 * @property {() => Promise<OpenPage>} newPage
 * @property {() => Promise<void>} close
 */

/** @type {Record<string, (options: { headless: boolean }) => Promise<OpenBrowser>>} */
const launchers = {
  async chromium(options) {
    const browser = await launchChromium(options);
    return {
      async newPage() {
        const page = await browser.newPage();
        return {
          goto: async (url) => void (await page.goto(url, { waitUntil: 'commit' })),
          close: () => page.close(),
        };
      },
      close: browser.close,
    };
  },
  async firefox(options) {
    const browser = await launchFirefox(options);
    return {
      async newPage() {
        const page = await browser.newPage();
        return { goto: (url) => page.goto(url, 'none'), close: page.close };
      },
      close: browser.close,
    };
  },
  webkit: () => launchWebKit(),
  safari: () => launchSafari(),
};

/** Runs Vitest's pages in the browsers that this machine has installed. */
class InstalledBrowserProvider {
  name = 'installed';
  supportsParallelism = true;
  // Vitest runs the engines side by side only when a mocker is there. It cannot mock in these
  // pages: a test that needs vi.mock() belongs to the `node` project.
  mocker = {
    async register() {
      throw new Error('vi.mock() does not work in the browser projects');
    },
    async delete() {
      // nothing was registered
    },
    async clear() {
      // nothing was registered
    },
  };
  #name;
  #headless;
  /** @type {Promise<OpenBrowser> | undefined} */
  #browser;
  /** @type {Map<string, OpenPage>} */
  #pages = new Map();

  /** @param {import('vitest/node').TestProject} project */
  constructor(project) {
    this.#name = project.config.browser.name;
    this.#headless = project.config.browser.headless;
  }

  /** @param {string} sessionId */
  getCommandsContext(sessionId) {
    return { page: this.#pages.get(sessionId), browser: this.#name };
  }

  /**
   * @param {string} sessionId
   * @param {string} url
   */
  async openPage(sessionId, url) {
    const launch = launchers[this.#name];
    if (!launch) throw new Error(`No launcher for ${this.#name}`);
    this.#browser ??= launch({ headless: this.#headless });
    const browser = await this.#browser;
    await this.#pages.get(sessionId)?.close();
    const page = await browser.newPage();
    this.#pages.set(sessionId, page);
    await page.goto(url);
  }

  async close() {
    const browser = this.#browser;
    this.#browser = undefined;
    this.#pages.clear();
    await (await browser)?.close();
  }
}

export const installedBrowsers = defineBrowserProvider({
  name: 'installed',
  supportedBrowser: ALL_BROWSERS,
  options: {},
  providerFactory: (project) => new InstalledBrowserProvider(project),
});
