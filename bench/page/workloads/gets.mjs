import { measure, middle } from '../measure.mjs';
import { checkSame } from '../model.mjs';
import { repeat } from '../repeat.mjs';
import { defineWorkload } from '../workload.mjs';

const COUNT = 1_000;
const PASSES = 5;
const WARM_UP = 200;
const US = 1_000;

/**
 * The median of several passes over different documents, in µs per document.
 *
 * @param {import('../session.mjs').Session} session
 * @param {(ids: string[]) => unknown} pass
 */
async function measurePasses(session, pass) {
  const passes = Array.from({ length: PASSES }, () => session.drawIds(COUNT));
  const times = [];
  for (const ids of passes) times.push(((await measure(() => pass(ids))).ms * US) / ids.length);
  return middle(times);
}

export const gets = defineWorkload({
  name: 'gets',
  title: 'Get 1,000 documents by id',
  metrics: {
    'one after another': { what: 'each call awaited before the next', unit: 'µs', limit: 'memory' },
    'at once': { what: '1,000 calls issued without waiting', unit: 'µs', limit: 'memory' },
    'in one call': { what: 'one call for all, per document', unit: 'µs', limit: 'memory' },
  },
  async run(session) {
    const store = await session.openFilled();
    const { get, getMany } = store;
    if (!get) return undefined;
    const ids = session.drawIds(COUNT);
    const others = session.drawIds(WARM_UP);
    const plain = session.peer.plain ?? ((it) => it);
    for (const id of [...others, ...ids.slice(0, WARM_UP)]) {
      checkSame('get', plain(await get(id)), session.model.documents.get(id));
    }
    await Promise.all(others.map((id) => get(id)));
    const after = await repeat(ids.length, session.patience, (index) => get(ids[index] ?? ''));
    const figures = {
      'one after another': (after.ms * US) / after.done,
      'at once': await measurePasses(session, (list) => Promise.all(list.map((id) => get(id)))),
    };
    if (!getMany) return figures;
    const expected = others.map((id) => /** @type {any} */ (session.model.documents.get(id)));
    session.check('get many', await getMany(others), expected);
    return { ...figures, 'in one call': await measurePasses(session, (list) => getMany(list)) };
  },
});
