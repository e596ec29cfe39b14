import { GROUP_SIZE } from '../../page/documents.mjs';
import { measure, measureMiddle, time } from '../../page/measure.mjs';
import { fill, openClient, openPeople } from '../page/cairn.mjs';
import { defineWorkload } from '../workload.mjs';

const OPTIONS = { indexes: ['group'] };
const GROUP = 1;
const RUNS = 20;

/** @param {string} name @param {number} size */
async function save(name, size) {
  const database = await openClient('thread', name);
  await fill(openPeople(database, OPTIONS), size);
  await database.close();
  return name;
}

/** @param {import('../page/cairn.mjs').ClientName} client @param {string} name */
async function findGroup(client, name) {
  const database = await openClient(client, name);
  const people = openPeople(database, OPTIONS);
  await people.ready;
  const find = () => people.filter({ group: GROUP });
  const cold = await measure(find);
  const second = await time(find);
  const warm = await measureMiddle(RUNS, find);
  await database.close();
  for (const { result } of [cold, second]) {
    if (result.length !== GROUP_SIZE) throw new Error(`${result.length} documents were found.`);
  }
  return { 'ms cold': cold.ms, 'ms the second time': second.ms, 'ms warm': warm };
}

/**
 * @param {import('../page/cairn.mjs').ClientName} client
 * @returns {import('../workload.mjs').Contender}
 */
const findThrough =
  (client) =>
  async ({ prepared: { big, small } }) => {
    await findGroup(client, small);
    return findGroup(client, big);
  };

export default defineWorkload({
  name: 'indexed-cold',
  title: 'indexed equality with 200 results, caching: false, fresh page',
  sizes: [100_000],
  smokeSizes: [1_000],
  freshPage: true,
  async prepare({ database, size }) {
    return { big: await save(database, size), small: await save(`${database}-small`, 2_000) };
  },
  contenders: { thread: findThrough('thread'), worker: findThrough('worker') },
  limits: ['thread', 'worker'].flatMap((client) => [
    { figure: `${client}: ms cold`, atMost: 80 },
    { figure: `${client}: ms warm`, atMost: 5 },
  ]),
});
