import { measure, time } from '../../page/measure.mjs';
import { fill, openClient, openPeople } from '../page/cairn.mjs';
import { defineWorkload } from '../workload.mjs';

/**
 * @param {import('../page/cairn.mjs').ClientName} client @returns
 *   {import('../workload.mjs').Contender}
 */
const through =
  (client) =>
  async ({ database: name, size }) => {
    const filling = await openClient(client, name);
    const people = openPeople(filling);
    const { ms: writing } = await measure(async () => {
      await fill(people, size);
      await people.save();
    });
    await filling.close();
    const reader = await openClient(client, name);
    const { ms: reading } = await measure(() => openPeople(reader).filter({}));
    await reader.close();
    const database = await openClient(client, name);
    const { ms: migrating } = await time(
      () =>
        new database.Collection({
          name: 'people',
          type: 'DOCUMENT_BASED',
          version: 2,
          migrate: { 2: ({ name, ...person }) => ({ ...person, names: name.split(' ') }) },
        }).ready,
    );
    await database.close();
    return { 'ms to write and read': writing + reading, 'ms to migrate': migrating };
  };

export default defineWorkload({
  name: 'migration',
  title: 'Opening a collection whose documents have to be migrated',
  sizes: [10_000, 100_000],
  smokeSizes: [500],
  freshPage: true,
  contenders: { thread: through('thread'), worker: through('worker') },
  limits: [
    { figure: 'thread: ms to migrate', per: 'thread: ms to write and read', atMost: 2 },
    { figure: 'worker: ms to migrate', per: 'worker: ms to write and read', atMost: 2 },
  ],
});
