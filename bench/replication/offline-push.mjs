import { callInPage, withBrowser } from './bench-page.mjs';
import { makeIdentified } from './page/replicated.mjs';
import { definePart, Figures } from './part.mjs';
import { fillServer } from './servers.mjs';

/** @param {import('./servers.mjs').Servers} servers @param {string} remote @param {number} size */
async function checkServer({ pool }, remote, size) {
  const { rows } = await pool.query(
    "select count(*)::int as pushed from cairn_rows where collection = $1 and (body->>'age')::int >= 100",
    [remote],
  );
  const { pushed } = rows[0];
  if (pushed !== size) throw new Error(`The server has ${pushed} of ${size} changes.`);
}

export const offlinePush = definePart({
  name: 'offline-push',
  title: 'push of changes of as many documents, made offline, by a worker client',
  limits: [
    { figure: 'push: blocked ms', atMost: 50 },
    { figure: 'push: long task ms', atMost: 50 },
  ],
  async run({ servers, smoke, rounds, options }) {
    const size = options.changes ?? (smoke ? 500 : 10_000);
    const figures = new Figures();
    await withBrowser(servers, async (open) => {
      const page = await open();
      for (let round = 1; round <= rounds; round++) {
        const remote = `push-${round}`;
        await fillServer(servers, remote, makeIdentified(size));
        await servers.pool.query('vacuum analyze');
        const input = { database: remote, size, remote };
        figures.add(size, 'push', await callInPage(page, 'offline-push.mjs', 'push', input));
        await checkServer(servers, remote, size);
      }
    });
    return { measured: figures.measured };
  },
});
