import { measure } from '../measure.mjs';
import { checkSame } from '../model.mjs';
import { repeat } from '../repeat.mjs';
import { defineWorkload } from '../workload.mjs';

const COUNT = 1_000;
const WARM_UP = 200;
const US = 1_000;

export const gets = defineWorkload({
  name: 'gets',
  title: 'Get 1,000 documents by id',
  metrics: {
    'one after another': { what: 'each call awaited before the next', unit: 'µs', limit: 'memory' },
    'at once': { what: '1,000 calls issued without waiting', unit: 'µs', limit: 'memory' },
    'in one call': { what: 'one call for all of them, a document', unit: 'µs', limit: 'memory' },
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
    const { ms } = await measure(() => Promise.all(ids.map((id) => get(id))));
    const figures = {
      'one after another': (after.ms * US) / after.done,
      'at once': (ms * US) / ids.length,
    };
    if (!getMany) return figures;
    const expected = (/** @type {string[]} */ list) =>
      list.map((id) => /** @type {any} */ (session.model.documents.get(id)));
    session.check('get many', await getMany(others), expected(others));
    const together = await measure(() => getMany(ids));
    session.check('get many', together.result, expected(ids));
    return { ...figures, 'in one call': (together.ms * US) / ids.length };
  },
});
