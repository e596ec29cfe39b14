import { measure, time } from '../../page/measure.mjs';
import { fill, getAtOnce, openClient, openPeople, scatter } from '../page/cairn.mjs';
import { defineWorkload } from '../workload.mjs';

const COUNT = 200;

/** @param {'thread' | 'files'} client @param {string} name @param {number} size */
async function save(client, name, size) {
  const database = await openClient(client, name);
  const ids = await fill(openPeople(database), size);
  await database.close();
  return { name, ids: scatter(ids, COUNT) };
}

/**
 * @param {import('../page/cairn.mjs').ClientName} client
 * @param {{ name: string, ids: string[] }} stored
 */
async function getScattered(client, { name, ids }) {
  const database = await openClient(client, name);
  const people = openPeople(database);
  await people.ready;
  const cold = await measure(() => getAtOnce(people, ids));
  const warm = await time(() => getAtOnce(people, ids));
  await database.close();
  return { 'ms cold': cold.ms, 'ms warm': warm.ms };
}

/**
 * @param {import('../page/cairn.mjs').ClientName} client
 * @returns {import('../workload.mjs').Contender}
 */
const getThrough =
  (client) =>
  async ({ prepared }) => {
    const { big, small } = client === 'files' ? prepared.files : prepared.indexeddb;
    await getScattered(client, small);
    return getScattered(client, big);
  };

export default defineWorkload({
  name: 'scattered-gets',
  title: '200 scattered get at once, caching: false, fresh page',
  sizes: [100_000],
  smokeSizes: [1_000],
  freshPage: true,
  async prepare({ database, size }) {
    const saveBoth = async (/** @type {'thread' | 'files'} */ client) => ({
      big: await save(client, `${database}-${client}`, size),
      small: await save(client, `${database}-${client}-small`, 2_000),
    });
    return { indexeddb: await saveBoth('thread'), files: await saveBoth('files') };
  },
  contenders: {
    thread: getThrough('thread'),
    worker: getThrough('worker'),
    files: getThrough('files'),
  },
  limits: ['thread', 'worker', 'files'].flatMap((client) => [
    { figure: `${client}: ms cold`, atMost: 80 },
    { figure: `${client}: ms warm`, atMost: 5 },
  ]),
});
