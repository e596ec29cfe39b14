import { chromium } from 'playwright-core';
import { makeFolder, removeFolder } from './child.mjs';
import { CHROMIUM_FLAGS } from './chromium-flags.mjs';
import { requireBrowser } from './find.mjs';

/**
 * Chromium with a profile on disk: a private context keeps IndexedDB in memory, and neither its
 * durability nor its speed would be those of a user.
 *
 * @param {object} [options]
 * @param {string} [options.profile] a folder to open (again); by default a fresh one, removed at
 *   the end
 * @param {boolean} [options.headless]
 * @param {string[]} [options.args]
 */
export async function launchChromium({ profile, headless = true, args = [] } = {}) {
  const folder = profile ?? makeFolder('chromium');
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: requireBrowser('chromium'),
    headless,
    args: [...CHROMIUM_FLAGS, ...args],
  });
  return {
    context,
    profile: folder,
    /** @param {string} [url] */
    async newPage(url) {
      const page = await context.newPage();
      if (url) await page.goto(url);
      return page;
    },
    async close() {
      await context.close();
      if (!profile) removeFolder(folder);
    },
  };
}
