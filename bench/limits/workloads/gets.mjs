import { measure, middle, time } from '../../page/measure.mjs';
import { fill, getAtOnce, openPeople, openWarm, remove, scatter } from '../page/cairn.mjs';
import { defineWorkload } from '../workload.mjs';

const AT_ONCE = 1_000;
const ALONE = 200;

/** A worker that echoes its messages. */
function startEcho() {
  const script = new Blob(['onmessage = ({ data }) => postMessage(data)']);
  const worker = new Worker(URL.createObjectURL(script));
  return {
    there: () =>
      new Promise((resolve) => {
        worker.onmessage = resolve;
        worker.postMessage(undefined);
      }),
    end: () => worker.terminate(),
  };
}

/**
 * @param {import('../page/cairn.mjs').ClientName} client
 * @param {boolean} caching
 * @returns {import('../workload.mjs').Contender}
 */
const getThrough =
  (client, caching) =>
  async ({ database: name, size }) => {
    const database = await openWarm(client, name);
    const people = openPeople(database, { caching });
    const ids = scatter(await fill(people, size), AT_ONCE);
    await getAtOnce(people, [...ids].reverse());
    const atOnce = await measure(() => getAtOnce(people, ids));
    const echo = startEcho();
    const echoes = [];
    const gets = [];
    for (const id of ids.slice(0, ALONE)) {
      echoes.push((await time(echo.there)).ms);
      gets.push((await time(() => people.get(id))).ms);
    }
    echo.end();
    await remove(database);
    return {
      'µs each at once': (atOnce.ms * 1000) / ids.length,
      'µs alone': middle(gets) * 1000,
      'µs empty message': middle(echoes) * 1000,
    };
  };

export default defineWorkload({
  name: 'gets',
  title: 'get by id: 1,000 at once, and one alone',
  sizes: [10_000],
  smokeSizes: [1_000],
  contenders: {
    thread: getThrough('thread', true),
    'worker, cached': getThrough('worker', true),
    'worker, not cached': getThrough('worker', false),
  },
  limits: ['worker, cached', 'worker, not cached'].flatMap((contender) => [
    { figure: `${contender}: µs each at once`, atMost: 12 },
    { figure: `${contender}: µs alone`, per: `${contender}: µs empty message`, atMost: 2.5 },
  ]),
});
