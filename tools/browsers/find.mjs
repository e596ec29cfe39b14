/**
 * Finds the browsers of this machine without starting them. Needs only Node, so that it also runs
 * before the packages are installed.
 */
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, isAbsolute, join } from 'node:path';

/** @typedef {'chromium' | 'firefox' | 'webkit' | 'safari'} BrowserName */

/** WebKit stands for Safari, which only macOS has. @type {readonly BrowserName[]} */
export const BROWSERS = ['chromium', 'firefox', 'webkit'];

/** @type {readonly BrowserName[]} */
export const ALL_BROWSERS = [...BROWSERS, 'safari'];

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * The first of the candidates that can be run: a bare name is looked up in PATH.
 * @param {(string | undefined)[]} candidates
 * @returns {string | undefined}
 */
export function findExecutable(...candidates) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  for (const candidate of candidates) {
    if (!candidate) continue;
    const paths = isAbsolute(candidate) ? [candidate] : folders.map((dir) => join(dir, candidate));
    const found = paths.find(isExecutable);
    if (found) return found;
  }
  return undefined;
}

/** Chromium that `playwright-core install chromium` downloaded, if it did. */
function findDownloadedChromium() {
  try {
    const { chromium } = createRequire(import.meta.url)('playwright-core');
    return findExecutable(chromium.executablePath());
  } catch {
    return undefined; // the packages are not installed yet
  }
}

/** MiniBrowser comes with WebKitGTK, in a library folder that no PATH names. */
function findMiniBrowser() {
  const cpu = { x64: 'x86_64', arm64: 'aarch64' }[String(process.arch)] ?? process.arch;
  const folders = [`/usr/lib/${cpu}-linux-gnu`, '/usr/libexec', '/usr/lib'];
  for (const folder of folders.filter((path) => existsSync(path))) {
    const versions = readdirSync(folder).filter((name) => /^webkit(2gtk|gtk)-/.test(name));
    const paths = versions.map((name) => join(folder, name, 'MiniBrowser'));
    const found = findExecutable(...paths.sort().reverse());
    if (found) return found;
  }
  return undefined;
}

/** @param {string} path below the folder of programs */
const onWindows = (path) => join(process.env.ProgramFiles ?? '', path);

export const findXvfb = () => findExecutable('Xvfb');

/** @type {Record<BrowserName, () => string | undefined>} */
const finders = {
  chromium: () =>
    findExecutable(
      process.env.CHROME_BIN,
      'chromium',
      'chromium-browser',
      'google-chrome-stable',
      'google-chrome',
      '/Applications/Chromium.app/Contents/MacOS/Chromium',
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
      onWindows('Google/Chrome/Application/chrome.exe'),
    ) ?? findDownloadedChromium(),
  firefox: () =>
    findExecutable(
      process.env.FIREFOX_BIN,
      'firefox-esr',
      'firefox',
      '/Applications/Firefox.app/Contents/MacOS/firefox',
      onWindows('Mozilla Firefox/firefox.exe'),
    ),
  webkit: () => findExecutable(process.env.WEBKIT_BIN) ?? findMiniBrowser(),
  safari: () => findExecutable('/Applications/Safari.app/Contents/MacOS/Safari'),
};

/** @type {Record<BrowserName, string>} */
const variables = {
  chromium: 'CHROME_BIN',
  firefox: 'FIREFOX_BIN',
  webkit: 'WEBKIT_BIN',
  safari: '(none: only macOS has Safari)',
};

/**
 * @param {BrowserName} name
 * @returns {string | undefined}
 */
export const findBrowser = (name) => finders[name]();

/**
 * The browser's path, or an error that says what to do.
 * @param {BrowserName} name
 */
export function requireBrowser(name) {
  const path = findBrowser(name);
  if (path) return path;
  throw new Error(
    `${name} is not on this machine. Run \`npm run browsers\`, or set ${variables[name]} to its path, ` +
      'or leave it out with BROWSERS=chromium (a comma-separated list).',
  );
}
