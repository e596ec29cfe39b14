import { measure, time } from '../measure.mjs';
import { repeat } from '../repeat.mjs';
import { defineWorkload } from '../workload.mjs';

const USUAL = 1_000;
const AT_ONCE_AT_LEAST = 50;
const WARM_UP = 20;
const US = 1_000;
const PART = { warmUp: 11, serial: 12, durable: 13, atOnce: 14 };

export const inserts = defineWorkload({
  name: 'inserts',
  title: 'Insert 1,000 documents with single calls',
  metrics: {
    'one after another': { what: 'each promise awaited before the next call', unit: 'µs' },
    'one after another, durable': {
      what: 'each document durable before the next call',
      unit: 'µs',
      durable: true,
      limit: 'storage',
    },
    'at once': {
      what: '1,000 calls issued without waiting, until all promises resolve',
      unit: 'µs',
    },
    'at once, durable': {
      what: 'until all are durable',
      unit: 'µs',
      durable: true,
      limit: 'storage',
    },
  },
  async run(session) {
    const store = await session.openFilled();
    const { insert, saved } = store;
    if (!insert) return undefined;
    const insertThenSave = async (/** @type {any} */ document) => {
      await insert(document);
      await saved?.();
    };
    const { insertSaved = insertThenSave } = store;
    const { patience } = session;
    const count = session.count(USUAL);
    /** @param {number} part @param {(document: any) => unknown} act */
    const insertEach = async (part, act) => {
      const documents = session.newDocuments(part, count);
      const { ms, done } = await repeat(count, patience, (index) => act(documents[index]));
      await saved?.();
      session.note({ inserted: { part, made: count, count: done } });
      return { each: (ms * US) / done, done };
    };
    const warmUp = session.newDocuments(PART.warmUp, WARM_UP);
    for (const document of warmUp.slice(1)) await insert(document);
    await saved?.();
    await insert(/** @type {any} */ (warmUp[0]));
    await saved?.();
    session.note({ inserted: { part: PART.warmUp, made: WARM_UP, count: WARM_UP } });

    const serial = await insertEach(PART.serial, (document) => insert(document));
    const durable = saved ? await insertEach(PART.durable, insertSaved) : serial;
    // a slow contender gets fewer at once
    const many = serial.done < count ? Math.max(AT_ONCE_AT_LEAST, serial.done) : count;
    const documents = session.newDocuments(PART.atOnce, many);
    const atOnce = await measure(() => Promise.all(documents.map((document) => insert(document))));
    const after = await time(() => saved?.());
    session.note({ inserted: { part: PART.atOnce, made: many, count: many } });
    return {
      'one after another': serial.each,
      'one after another, durable': durable.each,
      'at once': (atOnce.ms * US) / many,
      'at once, durable': ((atOnce.ms + after.ms) * US) / many,
    };
  },
});
