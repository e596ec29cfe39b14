import { parseArgs } from 'node:util';
import { launchChromium } from '../../tools/browsers/chromium.mjs';
import { ROOT } from '../../tools/setup.mjs';
import { summarize } from '../page/statistics.mjs';
import { buildIfStale } from '../shared/build.mjs';
import { describeMachine, machineLine } from '../shared/machine.mjs';
import { figure, printTable } from '../shared/print-table.mjs';
import { startServer } from '../shared/server.mjs';
import { wholeNumber } from '../shared/whole-number.mjs';
import { openBeside } from './beside.mjs';
import { runSession } from './session.mjs';

/** @type {[keyof import('./session.mjs').Session, string][]} */
const ROWS = [
  ['acknowledged', 'insertMany until acknowledged'],
  ['saved', 'insertMany until saved'],
  ['single', 'one insert until acknowledged'],
  ['together', '2,000 inserts at once'],
  ['opening', 'opening'],
  ['query', 'opening until the first query'],
];

/** Compares encrypted databases with plain ones, in turn in one page. @param {string[]} args */
export async function runEncryption(args) {
  const { values } = parseArgs({
    args,
    options: {
      documents: { type: 'string', default: '10000' },
      rounds: { type: 'string', default: '11' },
      smoke: { type: 'boolean', default: false },
    },
  });
  const count = values.smoke ? 1000 : wholeNumber(values.documents, '--documents');
  const rounds = values.smoke ? 1 : wholeNumber(values.rounds, '--rounds');
  const server = await startServer({ '/bench': `${ROOT}bench`, '/dist': buildIfStale() });
  console.log(machineLine(await describeMachine()));
  const browser = await launchChromium();
  try {
    const newPage = () => browser.newPage(`${server.origin()}/bench/limits/page/index.html`);
    const page = await newPage();
    print(count, await measureRounds(page, count, rounds));
    printBeside(await measureBeside(page, await newPage(), rounds));
  } finally {
    await browser.close();
    server.close();
  }
}

/** @param {import('playwright-core').Page} page @param {number} count @param {number} rounds */
async function measureRounds(page, count, rounds) {
  /**
   * @type {{ plain: import('./session.mjs').Session, encrypted: import('./session.mjs').Session
   *   }[]}
   */
  const measured = [];
  for (let round = 0; round <= rounds; round++) {
    const run = (/** @type {boolean} */ encrypts) =>
      runSession(page, { name: `round ${round} ${encrypts}`, encrypts, count });
    const first = round % 2 === 0;
    const [one, other] = [await run(first), await run(!first)];
    // The first round warms everything up.
    if (round > 0) measured.push(first ? pair(other, one) : pair(one, other));
  }
  return measured;
}

/**
 * @param {import('playwright-core').Page} leader @param {import('playwright-core').Page} follower
 * @param {number} rounds
 */
async function measureBeside(leader, follower, rounds) {
  /** @type {{ plain: number[], encrypted: number[] }} */
  const times = { plain: [], encrypted: [] };
  for (let round = 0; round <= rounds; round++) {
    for (const encrypts of round % 2 === 0 ? [false, true] : [true, false]) {
      const name = `beside ${round} ${encrypts}`;
      const opened = await openBeside(leader, follower, { name, encrypts });
      if (round > 0) times[encrypts ? 'encrypted' : 'plain'].push(...opened);
    }
  }
  return times;
}

/** @param {Awaited<ReturnType<typeof measureBeside>>} times */
function printBeside(times) {
  const [plain, encrypted] = [summarize(times.plain), summarize(times.encrypted)];
  console.log(`${plain.runs} openings beside an open tab, until the first answer; ms`);
  const line = (/** @type {'median' | 'min'} */ key) => [
    key,
    figure(plain[key]),
    figure(encrypted[key]),
    (encrypted[key] - plain[key]).toFixed(1),
  ];
  printTable([['', 'plain', 'encrypted', 'more'], line('median'), line('min')]);
}

/**
 * @param {import('./session.mjs').Session} plain @param {import('./session.mjs').Session} encrypted
 */
const pair = (plain, encrypted) => ({ plain, encrypted });

/** @param {number} count @param {Awaited<ReturnType<typeof measureRounds>>} measured */
function print(count, measured) {
  console.log(`${count} documents, ${measured.length} rounds in turn; ms, medians`);
  const lines = ROWS.map(([key, title]) => {
    const plain = summarize(measured.map((round) => round.plain[key]));
    const encrypted = summarize(measured.map((round) => round.encrypted[key]));
    return [
      title,
      figure(plain.median),
      figure(encrypted.median),
      (encrypted.median / plain.median).toFixed(2),
      (encrypted.min / plain.min).toFixed(2),
    ];
  });
  printTable([['', 'plain', 'encrypted', 'ratio', 'of minima'], ...lines]);
}
