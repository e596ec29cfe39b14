import { mkdirSync, writeFileSync } from 'node:fs';
import { workersOf } from '../shared/worker-sessions.mjs';

/** @typedef {import('../shared/worker-sessions.mjs').Send} Send */

const INTERVAL_US = 200;

/**
 * Lets a page record CPU profiles of itself and of its workers, for the developer tools of
 * Chromium. The names in them are readable when the build is not minified: see `--dist`.
 *
 * @param {import('playwright-core').Page} page
 * @param {string} folder
 * @returns {Promise<{ name: string }>} `name` is what the next files are called
 */
export async function recordProfiles(page, folder) {
  mkdirSync(folder, { recursive: true });
  const next = { name: '' };
  const session = await page.context().newCDPSession(page);
  const workers = workersOf(session);
  let running = false;
  const begin = async (/** @type {Send} */ send) => {
    await send('Profiler.enable');
    await send('Profiler.setSamplingInterval', { interval: INTERVAL_US });
    await send('Profiler.start');
  };
  const write = async (/** @type {string} */ name, /** @type {Send} */ send) => {
    const { profile } = await send('Profiler.stop');
    writeFileSync(`${folder}/${name}.cpuprofile`, JSON.stringify(profile));
  };
  const toPage = /** @type {Send} */ (session.send.bind(session));
  workers.started = (send) => (running ? begin(send) : Promise.resolve());
  await page.exposeFunction('startProfile', async () => {
    running = true;
    for (const send of workers.running.values()) await begin(send);
    await begin(toPage);
  });
  await page.exposeFunction('stopProfile', async () => {
    running = false;
    await write(next.name, toPage);
    for (const [index, send] of [...workers.running.values()].entries()) {
      await write(`${next.name}, its worker ${index + 1}`, send);
    }
  });
  await workers.attach();
  return next;
}
