import { summarize } from '../page/statistics.mjs';
import { Quiet } from '../shared/quiet.mjs';
import { callInPage, withPage } from './bench-page.mjs';
import { watchHeaps } from './heaps.mjs';
import { makeIdentified } from './page/replicated.mjs';
import { definePart, Figures } from './part.mjs';
import { fillServer, startServers } from './servers.mjs';

const WARM_UP = 2_000;
const CONTENDERS = ['insertMany', 'pull'];

/** The heap of a page may grow by so much, however many documents come. */
const PAGE_MB = 48;

/**
 * What a run keeps, and the most that it needs meanwhile, beyond what was there before.
 *
 * @param {string} origin
 * @param {string} contender
 * @param {{ size: number, remote: string }} input
 */
const measureMemory = (origin, contender, input) =>
  withPage(origin, async (page) => {
    const heaps = await watchHeaps(page);
    const open = { ...input, database: 'memory', contender };
    await callInPage(page, 'first-pull.mjs', 'prepare', open);
    const before = await heaps.settled();
    const peak = await heaps.peak(() => callInPage(page, 'first-pull.mjs', 'runPrepared', {}));
    const after = await heaps.settled();
    return {
      'MB peak of the page': peak.page - before.page,
      'MB peak of the worker': peak.worker - before.worker,
      'MB kept by the page': Math.max(0, after.page - before.page),
      'MB kept by the worker': Math.max(0, after.worker - before.worker),
    };
  });

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
  async run({ dist, smoke, rounds, options }) {
    const size = options.documents ?? (smoke ? 1_000 : 100_000);
    const servers = await startServers(dist, 1);
    const figures = new Figures();
    const quiet = new Quiet();
    try {
      await fillServer(servers, 'warm', makeIdentified(Math.min(size, WARM_UP), 5));
      await fillServer(servers, 'people', makeIdentified(size));
      await servers.pool.query('vacuum analyze');
      const [origin = ''] = servers.origins;
      await withPage(origin, async (page) => {
        for (let round = 1; round <= rounds; round++) {
          for (const contender of CONTENDERS) {
            if (!smoke) await quiet.wait();
            const input = { database: `${contender}-${round}`, size, remote: 'people', contender };
            await callInPage(page, 'first-pull.mjs', 'prepare', input);
            figures.add(
              size,
              contender,
              await callInPage(page, 'first-pull.mjs', 'runPrepared', {}),
            );
            await callInPage(page, 'first-pull.mjs', 'clean', {});
          }
        }
      });
      for (const contender of CONTENDERS)
        figures.add(
          size,
          contender,
          await measureMemory(origin, contender, { size, remote: 'people' }),
        );
    } finally {
      await servers.stop();
    }
    return { measured: figures.measured, load: smoke ? 0 : summarize(quiet.loads).median };
  },
});
