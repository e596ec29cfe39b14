import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const NAMES = ['google-chrome', 'chromium', 'chromium-browser', 'microsoft-edge', 'brave-browser'];
const PLACES = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  ],
  win32: [
    'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
    'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
  ],
};

/** Opens a window for each address, side by side, each with a new profile: devices of their own. */
export function openBrowsers(addresses) {
  const { platform, env } = process;
  const inPath = (env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)));
  const browser = (PLACES[platform] ?? inPath).find((path) => existsSync(path));
  const isShown = platform in PLACES || env.DISPLAY || env.WAYLAND_DISPLAY;
  if (!browser || !isShown || env.BROWSER === 'none') return;
  for (const [index, address] of addresses.entries()) {
    const profile = mkdtempSync(join(tmpdir(), 'field-service-'));
    const window = ['--window-size=440,860', `--window-position=${20 + 460 * index},60`];
    const args = [`--user-data-dir=${profile}`, '--no-first-run', ...window, `--app=${address}`];
    // The addresses are printed.
    spawn(browser, args, { stdio: 'ignore' }).on('error', () => undefined);
  }
}
