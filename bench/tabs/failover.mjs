import { leads, openTab } from './tab.mjs';

/**
 * @typedef {import('./tab.mjs').Tab} Tab
 * @typedef {import('./tab.mjs').TabScope} TabScope
 */

/** Ways to end a tab. @type {Record<string, (tab: Tab) => Promise<unknown>>} */
export const endings = {
  close: (tab) => tab.close(),
  async crash(tab) {
    const crashed = tab.waitForEvent('crash');
    // The page never finishes loading this address.
    tab.goto('chrome://crash').catch(() => undefined);
    await crashed;
    await tab.close();
  },
};

/**
 * The longest time between two results of a tab that calls without a pause, while the leader ends.
 *
 * @param {Parameters<typeof openTab>[0]} browser
 * @param {string} origin
 * @param {(tab: Tab) => Promise<unknown>} end
 * @param {number} count
 * @returns {Promise<number[]>} milliseconds
 */
export async function measureFailover(browser, origin, end, count) {
  const times = [];
  let leader = await openTab(browser, origin);
  for (let n = 0; n < count; n++) {
    const follower = await openTab(browser, origin);
    if (await leads(follower)) throw new Error('The second tab is the leader.');
    await follower.evaluate(askSteadily);
    await pause(300);
    await end(leader);
    while (!(await leads(follower))) await pause(20);
    await pause(100);
    times.push(await follower.evaluate(longestGap));
    leader = follower;
  }
  await leader.close();
  return times;
}

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function askSteadily() {
  const scope = /** @type {TabScope} */ (/** @type {unknown} */ (window));
  scope.answered = [];
  const ask = async () => {
    await scope.things.upsert({ _id: 'one', n: scope.answered.length });
    scope.answered.push(performance.now());
    // Yields to other tasks of the page.
    if (scope.answered.length < 1e6) setTimeout(ask, 2);
  };
  return ask();
}

function longestGap() {
  const { answered } = /** @type {TabScope} */ (/** @type {unknown} */ (window));
  const times = answered.splice(0, answered.length - 1);
  // It is the leader now.
  answered.length = 1e6;
  return Math.max(...times.slice(1).map((time, n) => time - /** @type {number} */ (times[n])));
}
