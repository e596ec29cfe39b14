import { mkdirSync, writeFileSync } from 'node:fs';

const INTERVAL_US = 200;

/**
 * Lets a page record CPU profiles of itself and of its workers, for the developer tools of Chromium. The
 * names in them are readable when the build is not minified: see `--dist`.
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
  await session.send('Target.setAutoAttach', {
    autoAttach: true,
    waitForDebuggerOnStart: true,
    flatten: false,
  });
  return next;
}

/** @typedef {(method: string, params?: object) => Promise<any>} Send */

/** A CDP session for each worker of a page. @param {import('playwright-core').CDPSession} session */
function workersOf(session) {
  /** @type {Map<number, (result: unknown) => void>} */
  const waiting = new Map();
  let lastId = 0;
  const workers = {
    /** @type {Map<string, Send>} */
    running: new Map(),
    /** Called before the first line of a worker runs. @type {(send: Send) => Promise<void>} */
    started: () => Promise.resolve(),
  };
  session.on('Target.receivedMessageFromTarget', ({ message }) => {
    const { id, result } = JSON.parse(message);
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  session.on('Target.attachedToTarget', async ({ sessionId }) => {
    /** @type {Send} */
    const send = (method, params = {}) =>
      new Promise((resolve, reject) => {
        const id = ++lastId;
        waiting.set(id, resolve);
        const message = JSON.stringify({ id, method, params });
        session.send('Target.sendMessageToTarget', { sessionId, message }).catch(reject);
      });
    workers.running.set(sessionId, send);
    await workers.started(send);
    await send('Runtime.runIfWaitingForDebugger');
  });
  session.on('Target.detachedFromTarget', ({ sessionId }) => workers.running.delete(sessionId));
  return workers;
}
