import { groupCount } from '../documents.mjs';
import { measure } from '../measure.mjs';
import { defineWorkload } from '../workload.mjs';

export const firstAnswer = defineWorkload({
  name: 'first-answer',
  title: 'Reload, open, find 200 documents by an index',
  reloads: true,
  metrics: {
    ms: { what: 'from opening to the result; the code is loaded and has not run', unit: 'ms' },
  },
  async run(session) {
    const group = Math.floor(session.random() * groupCount(session.size));
    const { ms, result } = await measure(async () => {
      const store = await session.open();
      return store.findGroup && { found: await store.findGroup(group) };
    });
    if (!result) return undefined;
    const expected = session.model.select((person) => person.group === group);
    session.check('first answer', result.found, expected);
    return { ms };
  },
});

export const everything = defineWorkload({
  name: 'everything',
  title: 'Reload, open, get every document',
  reloads: true,
  metrics: {
    ms: {
      what: 'from opening until all documents have arrived; the code is loaded and has not run',
      unit: 'ms',
      durable: true,
      limit: 'storage',
    },
  },
  async run(session) {
    const { ms, result } = await measure(async () => {
      const store = await session.open();
      return store.all && { found: await store.all() };
    });
    if (!result) return undefined;
    session.check('everything', result.found, [...session.model.documents.values()]);
    return { ms };
  },
});
