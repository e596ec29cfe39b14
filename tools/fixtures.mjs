/**
 * npm run test:fixtures [name…]: builds and packs the package, installs apps of all bundlers and
 * frameworks with it, starts each in development and production, opens it in Chromium, and prints a
 * table. Fails if one of them does, or prints a warning.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeFolder } from './browsers/child.mjs';
import { launchChromium } from './browsers/chromium.mjs';
import { checkHot } from './fixtures/check-hot.mjs';
import { checkPage } from './fixtures/check-page.mjs';
import { checkWorkers } from './fixtures/check-workers.mjs';
import { countScripts } from './fixtures/count-scripts.mjs';
import { install } from './fixtures/install.mjs';
import { fixtures } from './fixtures/list.mjs';
import { refuseParts } from './fixtures/refuse-parts.mjs';
import { appEnvironment, serveBy, serveFiles } from './fixtures/serve.mjs';
import { findWarnings } from './fixtures/warnings.mjs';
import { bin, ROOT } from './setup.mjs';

/** @typedef {import('./fixtures/list.mjs').Fixture} Fixture */

const names = process.argv.slice(2);
const chosen = fixtures.filter(
  ({ name }) => names.length === 0 || names.some((part) => `${name}-`.startsWith(`${part}-`)),
);
if (chosen.length === 0) throw new Error(`No such fixture: ${names.join(', ')}`);

execFileSync(bin('tsdown'), { cwd: ROOT, stdio: 'pipe' });
const pack = [join(ROOT, 'tools/pack.mjs'), makeFolder('tarball')];
const tarball = execFileSync(process.execPath, pack, { encoding: 'utf8' }).trim();

/** Returns what the commands print. @param {Fixture} fixture @param {string} folder */
function build({ build: commands = [], output = '.', copied = [] }, folder) {
  let printed = '';
  for (const [command = '', ...args] of commands) {
    const { status, stdout, stderr, error } = spawnSync(command, args, {
      cwd: folder,
      encoding: 'utf8',
      env: appEnvironment(folder),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    printed += `${stdout}\n${stderr}\n`;
    if (status !== 0) throw error ?? new Error(`${command} ends with ${status}:\n${printed}`);
  }
  for (const file of copied) copyFileSync(join(folder, file), join(folder, output, file));
  return printed;
}

/** @param {Fixture} fixture @param {string} folder @param {'dev' | 'production'} mode */
async function serve(fixture, folder, mode) {
  const { dev, start, output = '.', headers } = fixture;
  if (mode === 'dev') return serveBy(dev ?? [], folder);
  const printed = build(fixture, folder);
  if (start) return serveBy(start, folder, printed);
  const root = join(folder, output);
  if (!fixture.flags) return { ...(await serveFiles(root, headers)), log: () => printed };
  const { href: url } = pathToFileURL(join(root, 'index.html'));
  return { url, log: () => printed, close: async () => undefined };
}

/** @param {Fixture} fixture @param {string} folder @param {'dev' | 'production'} mode */
async function run(fixture, folder, mode) {
  const served = await serve(fixture, folder, mode);
  const chromium = await launchChromium({ args: fixture.flags ?? [] });
  try {
    const { context } = chromium;
    const { url } = served;
    const { check = 'page', visit } = fixture;
    const isVisited = mode === 'production' && check === 'page' && url.startsWith('http');
    const visited = isVisited
      ? [...(await countScripts(context, url, visit)), ...(await refuseParts(context, url))]
      : [];
    const checks = {
      page: () => checkPage(context, url, !fixture.flags),
      hot: () => checkHot(context, url, folder),
      'service-worker': () => checkWorkers(context, url, 'service-worker'),
      'shared-worker': () => checkWorkers(context, url, 'shared-worker'),
    };
    const { started, defects } = await checks[check]();
    const expected = fixture.started[mode];
    if (started !== expected) defects.unshift(`started ${started}, not ${expected}`);
    defects.push(...visited, ...findWarnings(served.log(), fixture.warnings));
    return { started, defects };
  } finally {
    await chromium.close();
    await served.close();
  }
}

/** @type {string[]} */
const failures = [];
console.log('| fixture | version | dev | production |\n|---|---|---|---|');
for (const fixture of chosen) {
  /** @type {Record<string, string>} */
  const cells = { dev: '–', production: '–' };
  for (const mode of /** @type {const} */ (['dev', 'production'])) {
    if (!fixture.started[mode]) continue;
    let defects;
    try {
      const outcome = await run(fixture, install(fixture, tarball), mode);
      defects = outcome.defects;
      cells[mode] = `\`${outcome.started}\``;
    } catch (error) {
      const { message, stdout = '', stderr = '' } = /** @type {any} */ (error);
      defects = [`${message}\n${stdout}${stderr}`];
    }
    if (defects.length > 0) {
      cells[mode] = 'fails';
      failures.push(`${fixture.name}, ${mode}:\n  ${defects.join('\n  ')}`);
    }
  }
  const version = Object.values(fixture.packages)[0] ?? '';
  console.log(`| ${fixture.name} | ${version} | ${cells.dev} | ${cells.production} |`);
}
if (failures.length > 0) {
  console.error(failures.join('\n'));
  process.exit(1);
}
process.exit(0);
