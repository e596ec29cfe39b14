import { measure, middle, time } from '../../page/measure.mjs';
import { openFilled, remove } from '../page/cairn.mjs';
import { defineWorkload } from '../workload.mjs';

/** @typedef {import('../page/cairn.mjs').People} People */

const OPEN = 100;
const CHANGES = 100;
const INDEXES = ['group'];
/** Groups of 200 that make 10,000 results. */
const GROUPS = 50;

/** Another for each change. */
let nextAge = 1_000;

/** Waits until pending differences are delivered and confirmed. */
const turn = () => new Promise((resolve) => setTimeout(resolve, 1));

/**
 * Changes documents of one group, one after another. @param {People} people @param {string[]} ids
 */
async function change(people, ids) {
  const { result } = await measure(async () => {
    const times = [];
    for (let round = 0; round < CHANGES; round++) {
      const id = /** @type {string} */ (ids[round % ids.length]);
      times.push((await time(() => people.sync.patch(id, { age: nextAge++ }))).ms);
      await turn();
    }
    return middle(times);
  });
  return result;
}

/** Counts the live query messages of the workers that start until it is stopped. */
function watchMessages() {
  const { Worker: Native } = globalThis;
  const seen = { messages: 0, bytes: 0 };
  globalThis.Worker = class extends Native {
    /** @param {ConstructorParameters<typeof Worker>} given */
    constructor(...given) {
      super(...given);
      this.addEventListener('message', ({ data }) => {
        /** @type {{ type: string }[] | undefined} */
        const events = data?.['cairn:event'] ?? data?.value?.events; // alone, or in a reply
        if (!events?.some(({ type }) => type === 'live')) return;
        seen.messages++;
        seen.bytes += new TextEncoder().encode(JSON.stringify(events)).length;
      });
    }
  };
  const stop = () => {
    globalThis.Worker = Native;
  };
  return { seen, stop };
}

export default defineWorkload({
  name: 'live-queries',
  title: '100 live queries and a change that affects one; one change in a result of 10,000',
  sizes: [100_000],
  smokeSizes: [1_000],
  contenders: {
    async thread({ database: name, size }) {
      const { database, people } = await openFilled('thread', name, { size, indexes: INDEXES });
      const ids = (await people.filter({ group: 0 })).map(({ _id }) => _id);
      await change(people, ids);
      const alone = await change(people, ids);
      const arrived = Array.from({ length: OPEN }, () => 0);
      const stops = [];
      for (let group = 0; group < OPEN; group++) {
        const live = people.live({ group });
        const count = () => {
          arrived[group] = (arrived[group] ?? 0) + 1;
        };
        stops.push(live.subscribe(count));
        await live.ready;
      }
      await change(people, ids);
      arrived.fill(0);
      const watched = await change(people, ids);
      const [touched = 0, ...others] = arrived;
      if (touched !== CHANGES) throw new Error(`${touched} of ${CHANGES} changes arrived.`);
      for (const stop of stops) stop();
      await remove(database);
      return {
        'ms a change': alone,
        'ms a change, 100 open': watched,
        'ms for 100 open': Math.max(0, watched - alone),
        'messages for others': others.reduce((sum, count) => sum + count, 0),
      };
    },
    async worker({ database: name, size }) {
      const { seen, stop } = watchMessages();
      const { database, people } = await openFilled('worker', name, { size, indexes: INDEXES });
      stop();
      const live = people.live({ group: { $lt: GROUPS } });
      let next = () => {};
      const end = live.subscribe(() => next());
      const { data } = await live.ready;
      const { _id: id } = /** @type {{ _id: string }} */ (data[data.length >> 1]);
      await people.patch(id, { age: 1e5 }); // the code of changes is loaded
      await people.count(); // earlier differences are confirmed
      Object.assign(seen, { messages: 0, bytes: 0 });
      const arrived = new Promise((resolve) => {
        next = () => resolve(undefined);
      });
      const { ms } = await measure(async () => {
        await people.patch(id, { age: 1e6 });
        await arrived;
      });
      await turn();
      end();
      await remove(database);
      if (seen.messages === 0) throw new Error('The message of the change was not seen.');
      return { messages: seen.messages, bytes: seen.bytes, 'ms until received': ms };
    },
  },
  limits: [
    { figure: 'thread: ms for 100 open', atMost: 0.2 },
    { figure: 'thread: messages for others', atMost: 0 },
    { figure: 'worker: messages', atMost: 1 },
    { figure: 'worker: bytes', atMost: 1024 },
  ],
});
