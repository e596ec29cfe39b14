import { groupCount } from '../documents.mjs';
import { repeat } from '../repeat.mjs';
import { defineWorkload } from '../workload.mjs';

const CHANGES = 100;
const WARM_UP = 5;
const US = 1_000;

export const live = defineWorkload({
  name: 'live-query',
  title: 'A live query of 200 documents, one changed',
  metrics: {
    µs: {
      what: 'from the change to the new result',
      unit: 'µs',
      limit: 'memory',
    },
  },
  async run(session) {
    const { watchGroup, setAges, saved } = await session.openFilled();
    if (!watchGroup || !setAges) return undefined;
    const group = Math.floor(session.random() * groupCount(session.size));
    const ids = session.model.select((person) => person.group === group).map(({ id }) => id);
    const plain = session.peer.plain ?? ((it) => it);
    /** @type {(documents: any[]) => void} */
    let resolveNext = () => {};
    /** @type {(reason: unknown) => void} */
    let failed = () => {};
    const begun = new Promise((resolve) => {
      resolveNext = resolve;
    });
    const stop = await watchGroup(group, (documents) => resolveNext(documents));
    session.check(
      'live query',
      await begun,
      session.model.select((it) => it.group === group),
    );
    let age = 1_000;
    const change = async (/** @type {number} */ index) => {
      const id = /** @type {string} */ (ids[index % ids.length]);
      age++;
      const seen = new Promise((resolve, reject) => {
        failed = reject;
        resolveNext = (documents) => {
          const document = documents.map(plain).find((each) => (each.id ?? each._id) === id);
          if (document?.age === age) resolve(documents);
        };
      });
      const written = Promise.resolve(setAges([id], age)).catch((reason) => failed(reason));
      const documents = await seen;
      await written;
      session.note({ aged: { ids: [id], age } });
      return documents;
    };
    for (let index = 0; index < WARM_UP; index++) {
      const documents = await change(index);
      session.check(
        'live',
        documents,
        session.model.select((it) => it.group === group),
      );
    }
    const { ms, done } = await repeat(CHANGES, session.patience, (index) =>
      change(index + WARM_UP),
    );
    stop();
    await saved?.();
    return { µs: (ms * US) / done };
  },
});
