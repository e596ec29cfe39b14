import { parseArgs } from 'node:util';
import { launchChromium } from '../../tools/browsers/chromium.mjs';
import { ROOT } from '../../tools/setup.mjs';
import { summarize } from '../page/statistics.mjs';
import { buildIfStale } from '../shared/build.mjs';
import { describeMachine, machineLine } from '../shared/machine.mjs';
import { startServer } from '../shared/server.mjs';
import { wholeNumber } from '../shared/whole-number.mjs';
import { insertsAtOnce, serialCalls } from './calls.mjs';
import { endings, measureFailover } from './failover.mjs';
import { openTab } from './tab.mjs';

const ROUNDS = 7;

/** Measures calls in a follower, and failover. @param {string[]} args */
export async function runTabs(args) {
  const { values } = parseArgs({ args, options: { times: { type: 'string', default: '30' } } });
  const times = wholeNumber(values.times, '--times');
  const server = await startServer({ '/bench': `${ROOT}bench`, '/dist': buildIfStale() });
  console.log(machineLine(await describeMachine()));
  try {
    await withBrowser((browser) => compareCalls(browser, server.origin()));
    for (const [how, end] of Object.entries(endings)) {
      await withBrowser(async (browser) => {
        printFailover(how, await measureFailover(browser, server.origin(), end, times));
      });
    }
  } finally {
    server.close();
  }
}

/** @param {(browser: Awaited<ReturnType<typeof launchChromium>>) => Promise<void>} use */
async function withBrowser(use) {
  const browser = await launchChromium();
  try {
    await use(browser);
  } finally {
    await browser.close();
  }
}

/** @param {Parameters<typeof openTab>[0]} browser @param {string} origin */
async function compareCalls(browser, origin) {
  const leader = await openTab(browser, origin);
  const follower = await openTab(browser, origin);
  /** @type {Record<'own' | 'others' | 'inserts', number[]>} in microseconds */
  const measured = { own: [], others: [], inserts: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    const own = await serialCalls(leader, 300);
    const others = await serialCalls(follower, 300);
    const inserts = await insertsAtOnce(follower, 1000);
    if (round === 0) continue; // warms it up
    measured.own.push(own);
    measured.others.push(others);
    measured.inserts.push(inserts);
  }
  const own = summarize(measured.own).median;
  const others = summarize(measured.others).median;
  const inserts = summarize(measured.inserts);
  console.log(`sequential calls: ${own.toFixed()} µs in the leader`);
  console.log(`  ${others.toFixed()} µs in a follower, ${(others / own).toFixed(2)} times (≤ 4)`);
  console.log(
    `1,000 inserts at once in another tab: ${inserts.median.toFixed(1)} µs each, best ${inserts.min.toFixed(1)} (≤ 40)`,
  );
}

/** @param {string} how @param {number[]} times */
function printFailover(how, times) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (/** @type {number} */ part) => sorted[Math.ceil(part * sorted.length) - 1]?.toFixed();
  const inTime = sorted.filter((ms) => ms <= 500).length;
  console.log(
    `failover after ${how}: p50 ${at(0.5)} ms, p90 ${at(0.9)}, p99 ${at(0.99)}, ` +
      `${inTime} of ${sorted.length} within 500 ms (≥ 99 %)`,
  );
}
