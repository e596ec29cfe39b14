import { workersOf } from '../shared/worker-sessions.mjs';

const SAMPLE_MS = 25;
const MB = 1_000_000;

/**
 * Watches the heaps of a page and of its workers: begins with those that start from now on.
 *
 * @param {import('playwright-core').Page} page
 * @param {{ buffers?: boolean }} [options] whether the bytes count that buffers hold beside them
 */
export async function watchHeaps(page, { buffers = false } = {}) {
  const session = await page.context().newCDPSession(page);
  const workers = workersOf(session);
  const toPage = /** @type {import('../shared/worker-sessions.mjs').Send} */ (
    session.send.bind(session)
  );
  await workers.attach();
  const read = async (/** @type {boolean} */ collected) => {
    const used = async (/** @type {typeof toPage} */ send) => {
      if (collected) await send('HeapProfiler.collectGarbage');
      const { usedSize, backingStorageSize } = await send('Runtime.getHeapUsage');
      return (usedSize + (buffers ? backingStorageSize : 0)) / MB;
    };
    const inWorkers = await Promise.all([...workers.running.values()].map(used));
    return { page: await used(toPage), worker: inWorkers.reduce((sum, one) => sum + one, 0) };
  };
  return {
    /** In MB: what is in use after a collection of garbage. */
    settled: () => read(true),
    /**
     * The most that was in use while something ran, garbage included, in MB.
     *
     * @param {() => Promise<unknown>} run
     */
    async peak(run) {
      const most = { page: 0, worker: 0 };
      let runs = true;
      const watching = (async () => {
        while (runs) {
          const now = await read(false);
          most.page = Math.max(most.page, now.page);
          most.worker = Math.max(most.worker, now.worker);
          await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
        }
      })();
      try {
        await run();
      } finally {
        runs = false;
        await watching;
      }
      return most;
    },
  };
}
