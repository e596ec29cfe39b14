import { makeFolder, removeFolder } from '../../tools/browsers/child.mjs';
import { launchChromium } from '../../tools/browsers/chromium.mjs';
import { workloads as inPage } from '../page/workloads.mjs';
import { bytesIn } from '../shared/bytes-in.mjs';
import { PageCalls } from './page-calls.mjs';

/**
 * @typedef {import('./contender.mjs').Contender} Contender
 * @typedef {import('./page-calls.mjs').Terms} Terms
 */

const ARGS = [
  '--js-flags=--expose-gc',
  // measures memory at once, not with the next garbage collection
  '--enable-blink-features=ForceEagerMeasureMemory',
];

/** Workloads that run before the database is filled. */
const BEFORE = 'open';
const FILLING = 'bulk-insert';

/**
 * One round of a database: a new profile on disk, filled, queried and changed, each workload on a
 * fresh page. At the end every document is compared with the model.
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
 * Fills a database in its own profile and measures the bytes on disk.
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
