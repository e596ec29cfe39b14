import { summarize } from '../page/statistics.mjs';
import { Quiet } from '../shared/quiet.mjs';
import { callInPage, withBrowser } from './bench-page.mjs';
import { watchHeaps } from './heaps.mjs';
import { makeIdentified } from './page/replicated.mjs';
import { definePart, Figures } from './part.mjs';
import { fillServer } from './servers.mjs';

const FILE = 'first-pull.mjs';
const WARM_UP = 2_000;
const CONTENDERS = ['insertMany', 'pull'];

/** The heap of a page may grow by so much, however many documents come. */
const PAGE_MB = 48;

/**
 * What a run keeps, and the most that it needs meanwhile, beyond what was there before.
 *
 * @param {import('playwright-core').Page} page a new one
 * @param {object} input
 */
async function measureMemory(page, input) {
  const heaps = await watchHeaps(page);
  await callInPage(page, FILE, 'prepare', input);
  const before = await heaps.settled();
  const peak = await heaps.peak(() => callInPage(page, FILE, 'runPrepared', {}));
  const after = await heaps.settled();
  return {
    'MB peak of the page': Math.max(0, peak.page - before.page),
    'MB peak of the worker': Math.max(0, peak.worker - before.worker),
    'MB kept by the page': Math.max(0, after.page - before.page),
    'MB kept by the worker': Math.max(0, after.worker - before.worker),
  };
}

export const firstPull = definePart({
  name: 'first-pull',
  title: 'first pull from PostgreSQL into a worker client until saved, and insertMany of the same',
  limits: [
    { figure: 'pull: ms', per: 'insertMany: ms', atMost: 2 },
    { figure: 'pull: blocked ms', atMost: 50 },
    { figure: 'pull: long task ms', atMost: 50 },
    { figure: 'pull: MB peak of the page', atMost: PAGE_MB },
    {
      figure: 'pull: MB kept by the worker',
      per: 'insertMany: MB kept by the worker',
      atMost: 1.5,
    },
  ],
  async run({ servers, smoke, rounds, options }) {
    const size = options.documents ?? (smoke ? 1_000 : 100_000);
    const figures = new Figures();
    const quiet = new Quiet();
    await fillServer(servers, 'warm', makeIdentified(Math.min(size, WARM_UP), 5));
    await fillServer(servers, 'people', makeIdentified(size));
    await servers.pool.query('vacuum analyze');
    await withBrowser(servers, async (open) => {
      const page = await open();
      for (let round = 1; round <= rounds; round++) {
        for (const contender of CONTENDERS) {
          if (!smoke) await quiet.wait();
          const database = `${contender}-${round}`;
          await callInPage(page, FILE, 'prepare', { database, size, remote: 'people', contender });
          figures.add(size, contender, await callInPage(page, FILE, 'runPrepared', {}));
          await callInPage(page, FILE, 'clean', {});
        }
      }
      await page.close();
      for (const contender of CONTENDERS) {
        const own = await open();
        const database = `memory-${contender}`;
        const input = { database, size, remote: 'people', contender };
        figures.add(size, contender, await measureMemory(own, input));
        await own.close();
      }
    });
    return { measured: figures.measured, load: smoke ? 0 : summarize(quiet.loads).median };
  },
});
