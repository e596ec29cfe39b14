import { measure, time } from '../measure.mjs';
import { defineWorkload } from '../workload.mjs';

const COUNT = 1_000;
const WARM_UP = 100;
const US = 1_000;

const metrics = /** @type {const} */ ({
  acknowledged: { what: 'until the promise resolves, per document', unit: 'µs' },
  durable: {
    what: 'until all changes are durable, per document',
    unit: 'µs',
    durable: true,
    limit: 'storage',
  },
});

/**
 * @param {import('../peer.mjs').Store} store @param {number} documents @param {() => unknown}
 *   change
 */
async function measureChange(store, documents, change) {
  const { ms } = await measure(change);
  const saved = await time(() => store.saved?.());
  const each = (/** @type {number} */ all) => (all * US) / documents;
  return { acknowledged: each(ms), durable: each(ms + saved.ms) };
}

export const updates = defineWorkload({
  name: 'updates',
  title: 'Update one indexed field of 1,000 random documents',
  metrics,
  async run(session) {
    const store = await session.openFilled();
    const { setAges, saved } = store;
    if (!setAges) return undefined;
    const warmUp = session.drawIds(Math.min(WARM_UP, session.size >> 2));
    await setAges(warmUp, 200);
    await saved?.();
    session.note({ aged: { ids: warmUp, age: 200 } });
    const ids = session.drawIds(Math.min(COUNT, session.size >> 1));
    const figures = await measureChange(store, ids.length, () => setAges(ids, 201));
    session.note({ aged: { ids, age: 201 } });
    return figures;
  },
});

export const deletes = defineWorkload({
  name: 'deletes',
  title: 'Delete 1,000 random documents',
  metrics,
  async run(session) {
    const store = await session.openFilled();
    const { deleteMany, saved } = store;
    if (!deleteMany) return undefined;
    const warmUp = session.drawIds(Math.min(WARM_UP, session.size >> 2));
    await deleteMany(warmUp);
    await saved?.();
    session.note({ deleted: warmUp });
    const ids = session.drawIds(Math.min(COUNT, session.size >> 1));
    const figures = await measureChange(store, ids.length, () => deleteMany(ids));
    session.note({ deleted: ids });
    return figures;
  },
});
