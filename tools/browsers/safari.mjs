import { execFileSync } from 'node:child_process';
import { requireBrowser } from './find.mjs';

/**
 * Safari on macOS as a user would start it: under automation its storage is ephemeral. A page
 * reports by itself, as in WebKitGTK's MiniBrowser.
 */
export async function launchSafari() {
  requireBrowser('safari');
  const quit = () => {
    // Elsewhere it has the user's own windows. AppleScript would need a permission that runners do
    // not have.
    if (process.env.CI) execFileSync('sh', ['-c', 'killall Safari || true'], { stdio: 'ignore' });
  };
  return {
    async newPage() {
      return {
        goto: async (/** @type {string} */ url) =>
          void execFileSync('open', ['-a', 'Safari', url], { stdio: 'ignore' }),
        close: () => Promise.resolve(),
      };
    },
    close: async () => quit(),
  };
}
