import { timeAndWatch } from '../measure.mjs';
import { defineWorkload } from '../workload.mjs';

const WARM_UP = 1_000;

export const bulkInsert = defineWorkload({
  name: 'bulk-insert',
  title: 'Insert all documents in one call',
  metrics: {
    acknowledged: { what: 'until the promise resolves', unit: 'ms' },
    durable: {
      what: 'until all documents are durable',
      unit: 'ms',
      durable: true,
      limit: 'storage',
    },
    'longest block': { what: 'the longest block of the page', unit: 'ms' },
    'blocked in all': {
      what: 'total blocking time: the sum of all blocks beyond 50 ms',
      unit: 'ms',
    },
  },
  async run(session) {
    const other = await session.openOther('warm-up');
    await other.insertMany(session.newDocuments(1, Math.min(WARM_UP, session.size)));
    await other.saved?.();
    await other.close();
    const documents = session.firstDocuments();
    const store = await session.open();
    let acknowledged = 0;
    const { ms, longest, beyond } = await timeAndWatch(async () => {
      const start = performance.now();
      await store.insertMany(documents);
      acknowledged = performance.now() - start;
      await store.saved?.();
    });
    return { acknowledged, durable: ms, 'longest block': longest, 'blocked in all': beyond };
  },
});
