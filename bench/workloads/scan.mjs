import { fill, openDoor, openPeople, remove } from '../page/cairn.mjs';
import { makeDocuments } from '../page/documents.mjs';
import { measure } from '../page/measure.mjs';
import { defineWorkload } from '../workload.mjs';

const CRITERIA = { 'address.city': 'Porto', age: { $gte: 20, $lt: 40 } };
const WARM_UP = 3;

/** One run of warm code. @param {() => number} count */
async function warmMs(count) {
  for (let run = 0; run < WARM_UP; run++) count();
  const { ms, result } = await measure(count);
  if (result === 0) throw new Error('Documents are missing.');
  return { ms };
}

export default defineWorkload({
  name: 'scan',
  title: 'count by criteria in this thread, everything in memory',
  sizes: [100_000],
  smokeSizes: [1_000],
  contenders: {
    async 'loop by hand'({ size }) {
      const documents = makeDocuments(size);
      return warmMs(() => {
        let count = 0;
        for (const { address, age } of documents) {
          if (address.city === 'Porto' && age >= 20 && age < 40) count++;
        }
        return count;
      });
    },
    async cairn({ database: name, size }) {
      const database = await openDoor('thread', name);
      const people = openPeople(database, { caching: true });
      await fill(people, size);
      await people.ready;
      const figures = await warmMs(() => people.sync.count(CRITERIA));
      await remove(database);
      return figures;
    },
  },
  limits: [{ figure: 'cairn: ms', per: 'loop by hand: ms' }],
});
