import { measure, time } from '../measure.mjs';
import { defineWorkload } from '../workload.mjs';

export const open = defineWorkload({
  name: 'open',
  title: 'Open a new database and insert the first document',
  metrics: {
    acknowledged: { what: 'until the promise of the insert resolves', unit: 'ms' },
    durable: { what: 'until the document is durable', unit: 'ms', durable: true, limit: 'storage' },
  },
  async run(session) {
    const [document] = session.newDocuments(1, 1);
    const { ms, result: store } = await measure(async () => {
      const opened = await session.openOther('open');
      await (opened.insert ?? opened.insertMany)(
        /** @type {any} */ (opened.insert ? document : [document]),
      );
      return opened;
    });
    const saved = await time(() => store.saved?.());
    await store.close();
    return { acknowledged: ms, durable: ms + saved.ms };
  },
});
