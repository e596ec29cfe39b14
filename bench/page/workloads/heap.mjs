import { groupCount } from '../documents.mjs';
import { wait } from '../measure.mjs';
import { defineWorkload } from '../workload.mjs';

const SETTLE_MS = 1_000;
const MB = 1_000_000;

/** Chromium sometimes never answers, mostly while a worker is busy. */
const ANSWERS_WITHIN_MS = 5_000;
const TRIES = 4;

/**
 * Bytes of the page and its workers, if the browser reports them. @param {boolean} hasty @returns
 * {Promise<number | undefined>}
 */
async function usedMemory(hasty) {
  for (let tries = hasty ? 1 : TRIES; tries > 0; tries--) {
    const measured = /** @type {any} */ (performance).measureUserAgentSpecificMemory();
    const answer = await Promise.race([measured, wait(ANSWERS_WITHIN_MS)]);
    if (answer) return answer.bytes;
  }
  return undefined;
}

export const heap = defineWorkload({
  name: 'heap',
  title: 'Memory of page and worker after a reload and the first result',
  metrics: { MB: { what: 'more than the page before opening', unit: 'MB' } },
  async run(session) {
    if (!globalThis.crossOriginIsolated) return undefined; // the API needs isolation
    if (!session.peer.keeps) session.makeModel(); // the initial documents must not count
    const before = await usedMemory(session.hasty);
    if (before === undefined) return undefined;
    const store = await session.openFilled();
    if (!store.findGroup) return undefined;
    await store.findGroup(Math.floor(session.random() * groupCount(session.size)));
    if (!session.hasty) await wait(SETTLE_MS); // background loading has finished
    const after = await usedMemory(session.hasty);
    if (after === undefined) return undefined;
    return { MB: Math.max(0, after - before) / MB };
  },
});
