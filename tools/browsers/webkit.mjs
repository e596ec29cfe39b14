import { join } from 'node:path';
import { Child, makeFolder, removeFolder } from './child.mjs';
import { findXvfb, requireBrowser } from './find.mjs';
import { closeWindows } from './x11.mjs';

/** On in Safari, off by default in WebKitGTK's MiniBrowser. */
const FEATURES = [
  '+StorageAPI',
  '+StorageAPIEstimate',
  '+FileSystem',
  '+FileSystemWritableStream',
  '+AccessHandle',
].join(',');

/** Tests press no button: pages may open tabs without one. */
const SETTINGS = ['--javascript-can-open-windows-automatically=true'];

/** A display of our own, so that no window opens on the user's; Xvfb finds a free number itself. */
async function openDisplay() {
  const xvfb = findXvfb();
  if (!xvfb) {
    const { DISPLAY } = process.env;
    if (!DISPLAY) throw new Error('WebKit needs a display: install Xvfb (`npm run browsers`).');
    return { name: DISPLAY, isOwn: false, close: () => Promise.resolve() };
  }
  const screen = ['-screen', '0', '1280x800x24'];
  const child = new Child(xvfb, ['-displayfd', '1', ...screen, '-nolisten', 'tcp', '-noreset']);
  const [, number] = await child.waitFor(/^(\d+)\s/m, 20_000);
  return { name: `:${number}`, isOwn: true, close: () => child.end() };
}

/**
 * WebKitGTK's MiniBrowser as a user would start it. Not under automation: such a session is
 * ephemeral, and Blobs in IndexedDB and the origin-private file system fail there. So a test
 * cannot query a page: the page reports by itself.
 *
 * @param {object} [options]
 * @param {string} [options.profile] a folder to open again; by default each start has a fresh one,
 *   removed at the end
 * @param {readonly string[]} [options.flags] of MiniBrowser, such as what the user blocks
 */
export async function launchWebKit({ profile, flags = [] } = {}) {
  const binary = requireBrowser('webkit');
  const display = await openDisplay();
  /** @type {Set<{ close: () => Promise<void>, ended: () => Promise<unknown> }>} */
  const pages = new Set();

  /** @param {readonly string[]} urls */
  function startBrowser(urls) {
    const home = profile ?? makeFolder('webkit');
    const child = new Child(binary, [`--features=${FEATURES}`, ...SETTINGS, ...flags, ...urls], {
      ...process.env,
      HOME: home,
      XDG_DATA_HOME: join(home, 'data'),
      XDG_CACHE_HOME: join(home, 'cache'),
      XDG_CONFIG_HOME: join(home, 'config'),
      XDG_STATE_HOME: join(home, 'state'),
      DISPLAY: display.name,
      GDK_BACKEND: 'x11',
      GTK_A11Y: 'none',
      NO_AT_BRIDGE: '1',
      LIBGL_ALWAYS_SOFTWARE: '1',
    });
    return { child, home };
  }

  async function newPage() {
    /** @type {ReturnType<typeof startBrowser> | undefined} */
    let browser;
    const page = {
      /** @param {string[]} urls a page, and others in tabs beside it */
      async goto(...urls) {
        await page.close();
        browser = startBrowser(urls);
        pages.add(page);
      },
      /** Resolves when the browser has ended, of itself too. */
      ended: () => browser?.child.exited ?? Promise.resolve(),
      async close() {
        const { child, home } = browser ?? {};
        browser = undefined;
        pages.delete(page);
        await child?.end();
        if (home && !profile) removeFolder(home);
      },
    };
    return page;
  }

  return {
    newPage,
    /**
     * Pages that share their storage.
     * @param {readonly string[]} urls
     */
    async openTabs(urls) {
      const page = await newPage();
      await page.goto(...urls);
    },
    /** Ends as when the user closes all windows. */
    async quit() {
      if (!display.isOwn)
        throw new Error('WebKit is quit on a display of its own alone: install Xvfb.');
      const ended = [...pages].map((page) => page.ended());
      await closeWindows(display.name);
      await Promise.all(ended);
      await Promise.all([...pages].map((page) => page.close()));
    },
    async close() {
      await Promise.all([...pages].map((page) => page.close()));
      await display.close();
    },
  };
}
