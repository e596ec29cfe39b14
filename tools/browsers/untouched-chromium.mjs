import { chromium } from 'playwright-core';
import { Child, makeFolder, removeFolder } from './child.mjs';
import { CHROMIUM_FLAGS } from './chromium-flags.mjs';
import { requireBrowser } from './find.mjs';

/**
 * Chromium as a user starts it. Playwright's reports every page as visible and focused, so
 * none can be frozen, and has no back/forward cache. This one can also be killed.
 *
 * @param {object} [options]
 * @param {string} [options.profile] a folder to open (again); by default a fresh one, removed at
 *   the end
 */
export async function launchUntouchedChromium({ profile } = {}) {
  const folder = profile ?? makeFolder('chromium');
  const child = new Child(requireBrowser('chromium'), [
    ...CHROMIUM_FLAGS,
    '--headless',
    '--remote-debugging-port=0',
    `--user-data-dir=${folder}`,
    'about:blank',
  ]);
  const [, endpoint] = await child.waitFor(/DevTools listening on (ws:\S+)/, 30_000);
  const browser = await chromium.connectOverCDP(String(endpoint), { noDefaults: true });
  const [context] = browser.contexts();
  if (!context) throw new Error('Chromium has no profile.');
  return {
    context,
    newPage: () => context.newPage(),
    /** Resolves when the browser has ended, of itself too. */
    ended: child.exited,
    /** Ends the whole browser in the middle of whatever it does. */
    kill: () => child.end(),
    /** Asks all its processes to end, as a system does that shuts down. */
    terminate: () => child.kill('SIGTERM'),
    async close() {
      await browser.close();
      await child.end();
      if (!profile) removeFolder(folder);
    },
  };
}
