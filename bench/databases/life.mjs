import { existsSync, readdirSync, statSync } from 'node:fs';
import { makeFolder, removeFolder } from '../../tools/browsers/child.mjs';
import { launchChromium } from '../../tools/browsers/chromium.mjs';
import { workloads as inPage } from '../page/workloads.mjs';
import { PageCalls } from './page-calls.mjs';

/**
 * @typedef {import('./contender.mjs').Contender} Contender
 * @typedef {import('./page-calls.mjs').Terms} Terms
 */

const ARGS = [
  '--js-flags=--expose-gc',
  // memory is measured at once, not with the next collection of garbage
  '--enable-blink-features=ForceEagerMeasureMemory',
];

/** What is performed before the database is filled. */
const BEFORE = 'open';
const FILLING = 'bulk-insert';

/**
 * One life of a database: a new profile on disk, filled, asked and changed, each workload on a fresh page; and in
 * the end every document is compared with what it has to be.
 *
 * @param {import('playwright-core').Page} page
 * @param {string} origin
 * @param {Contender} contender
 * @param {Terms} terms
 * @param {readonly string[]} chosen names of workloads
 * @param {(workload: string, figures: Record<string, number>) => void} note
 */
export async function live(page, origin, contender, terms, chosen, note) {
  const calls = new PageCalls(page, origin, contender, terms);
  const perform = async (/** @type {string} */ name) => {
    const figures = await calls.perform(name);
    if (figures) note(name, figures);
  };
  const { keeps } = contender.peer;
  const asked = inPage.filter(({ name, reloads }) => chosen.includes(name) && (keeps || !reloads));
  const after = asked.filter(({ name }) => name !== BEFORE && name !== FILLING);
  await calls.rehearse();
  if (chosen.includes(BEFORE)) await perform(BEFORE);
  if (chosen.includes(FILLING)) await perform(FILLING);
  else if (keeps && after.length > 0) await calls.fill();
  for (const { name } of after) await perform(name);
  if (chosen.includes(FILLING) || after.length > 0) await calls.verify();
}

/**
 * @param {(openPage: () => Promise<import('playwright-core').Page>) => Promise<unknown>} use
 * @param {string} [profile] a folder that outlives the browser
 */
export async function withBrowser(use, profile) {
  const browser = await launchChromium({ args: ARGS, ...(profile ? { profile } : {}) });
  try {
    await use(async () => {
      const page = await browser.newPage();
      page.on('console', (message) => {
        if (message.type() === 'error') console.warn(`  ${message.text()}`);
      });
      return page;
    });
  } finally {
    await browser.close();
  }
}

/** Where Chromium keeps IndexedDB, and the origin private file system. */
const STORAGE = ['Default/IndexedDB', 'Default/File System'];

/**
 * Fills a database in a profile of its own and weighs what the browser has written, in bytes.
 *
 * @param {string} origin
 * @param {Contender} contender
 * @param {Terms} terms
 */
export async function weigh(origin, contender, terms) {
  const profile = makeFolder('weighed');
  try {
    const fill = async (/** @type {() => Promise<import('playwright-core').Page>} */ openPage) =>
      new PageCalls(await openPage(), origin, contender, terms).fill();
    await withBrowser(fill, profile);
    return STORAGE.reduce((sum, folder) => sum + bytesIn(`${profile}/${folder}`), 0);
  } finally {
    removeFolder(profile);
  }
}

/** @param {string} path @returns {number} */
function bytesIn(path) {
  if (!existsSync(path)) return 0;
  const status = statSync(path);
  // what is allotted: a file may be longer than what was written of it
  if (!status.isDirectory()) return Math.min(status.size, status.blocks * 512);
  return readdirSync(path).reduce((sum, name) => sum + bytesIn(`${path}/${name}`), 0);
}
