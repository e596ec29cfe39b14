/**
 * node tools/browsers/provision.mjs [chromium] [firefox] [webkit]
 *
 * Makes the browsers of the tests available: with apt as root on Debian and Ubuntu; elsewhere it
 * takes what is installed and downloads Chromium at most. Ends with an error if one is missing.
 */
import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { BROWSERS, findBrowser, findExecutable, findXvfb } from './find.mjs';

/** @typedef {import('./find.mjs').BrowserName} BrowserName */

/** @type {Record<BrowserName, string[]>} */
const DEBIAN_PACKAGES = {
  chromium: ['chromium', 'fonts-liberation'],
  firefox: ['firefox-esr', 'fonts-liberation'],
  webkit: ['libwebkit2gtk-4.1-0', 'xvfb', 'fonts-liberation'],
  safari: [],
};

/** @param {BrowserName} name */
function isReady(name) {
  if (name === 'webkit' && !findXvfb() && !process.env.DISPLAY) return false;
  return findBrowser(name) !== undefined;
}

/** @param {readonly BrowserName[]} names */
const packagesOf = (names) => [...new Set(names.flatMap((name) => DEBIAN_PACKAGES[name]))];

/**
 * @param {string} command
 * @param {string[]} args
 */
function run(command, args) {
  console.log(`$ ${[command, ...args].join(' ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync(command, args, { stdio: 'inherit', env }).status === 0;
}

/** @param {readonly BrowserName[]} missing */
function install(missing) {
  if (findExecutable('apt-get') && process.getuid?.() === 0) {
    run('apt-get', ['update', '-q']);
    // one by one: Ubuntu's name for a package may differ, and must not keep back the others
    for (const name of missing) {
      run('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...packagesOf([name])]);
    }
  }
  if (missing.includes('chromium') && !isReady('chromium')) {
    run('npx', ['playwright-core', 'install', 'chromium']);
  }
}

/**
 * Installs what is missing; the browsers that still are not there afterwards.
 * @param {readonly BrowserName[]} names
 */
export function provisionBrowsers(names = BROWSERS) {
  const missing = names.filter((name) => !isReady(name));
  if (missing.length > 0) install(missing);
  return missing.filter((name) => !isReady(name));
}

/** @param {readonly BrowserName[]} names */
export function explainMissing(names) {
  return (
    `Not on this machine: ${names.join(', ')}. On Debian or Ubuntu: sudo apt-get install ` +
    `${packagesOf(names).join(' ')}. Elsewhere install them and, if they are not in PATH, set ` +
    'CHROME_BIN, FIREFOX_BIN, WEBKIT_BIN.'
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const asked = BROWSERS.filter((name) => process.argv.includes(name));
  const names = asked.length > 0 ? asked : BROWSERS;
  const missing = provisionBrowsers(names);
  for (const name of names) console.log(name.padEnd(9), findBrowser(name) ?? 'missing');
  if (missing.length > 0) {
    console.error(explainMissing(missing));
    process.exitCode = 1;
  }
}
