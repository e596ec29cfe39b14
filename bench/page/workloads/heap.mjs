import { groupCount } from '../documents.mjs';
import { wait } from '../measure.mjs';
import { defineWorkload } from '../workload.mjs';

const SETTLE_MS = 1_000;
const MB = 1_000_000;

/** Chromium forgets to answer now and then. */
const ANSWERS_WITHIN_MS = 5_000;

/** Of the page and its workers, in bytes. @returns {Promise<number>} */
async function usedMemory() {
  const measured = /** @type {any} */ (performance).measureUserAgentSpecificMemory();
  const answer = await Promise.race([measured, wait(ANSWERS_WITHIN_MS)]);
  return answer ? answer.bytes : usedMemory();
}

export const heap = defineWorkload({
  name: 'heap',
  title: 'Memory of page and worker after a reload and the first answer',
  metrics: { MB: { what: 'beyond that of the page before it was opened', unit: 'MB' } },
  async run(session) {
    const before = await usedMemory();
    const store = await session.openFilled();
    if (!store.findGroup) return undefined;
    await store.findGroup(Math.floor(session.random() * groupCount(session.size)));
    if (!session.hasty) await wait(SETTLE_MS); // what is loaded behind the first answer is there
    return { MB: Math.max(0, (await usedMemory()) - before) / MB };
  },
});
