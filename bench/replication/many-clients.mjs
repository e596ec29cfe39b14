import { fork } from 'node:child_process';
import { once } from 'node:events';
import { ROOT } from '../../tools/setup.mjs';
import { compareDocuments, merge, percentile } from './clients/outcome.mjs';
import { definePart, Figures } from './part.mjs';
import { fillServer } from './servers.mjs';

const COLLECTION = 'marks';
const PROCESSES = 2;
/** One write of so many is of two clients at once: about 1 % conflict. */
const CONFLICT_EVERY = 100;

/** @typedef {import('./clients/client-process.mjs').Plan} Plan */

/** A process of clients that takes orders. @param {Plan} plan */
function startClients(plan) {
  const child = fork(`${ROOT}bench/replication/clients/client-process.mjs`, [JSON.stringify(plan)]);
  return {
    /** @param {string} what @returns {Promise<any>} */
    async order(what) {
      child.send(what);
      const [{ answer, error }] = await once(child, 'message');
      if (error) throw new Error(`Clients could not ${what}: ${error}`);
      return answer;
    },
    end: () => child.disconnect(),
  };
}

export const manyClients = definePart({
  name: 'many-clients',
  title: 'clients on three handler processes that all write to one collection',
  limits: [
    { figure: 'clients: lost changes', atMost: 0 },
    { figure: 'clients: documents that differ', atMost: 0 },
    { figure: 'clients: failed requests', atMost: 0 },
  ],
  async run({ servers, smoke, options, note }) {
    const { clients, seconds, writes } = options;
    const names = Array.from({ length: clients }, (_, index) => `c${index}`);
    const shared = Array.from({ length: PROCESSES }, (_, index) => `shared-${index}`);
    await fillServer(
      servers,
      COLLECTION,
      [...names, ...shared].map((_id) => ({ _id })),
    );
    const processes = shared.map((id, index) =>
      startClients({
        dist: servers.dist,
        urls: servers.origins.map((origin) => `${origin}/sync/${COLLECTION}`),
        names: names.filter((_, at) => at % PROCESSES === index),
        ...{ shared: id, seconds, writes: writes / PROCESSES },
        conflictEvery: smoke ? 5 : CONFLICT_EVERY,
      }),
    );
    const all = (/** @type {string} */ what) =>
      Promise.all(processes.map(({ order }) => order(what)));
    try {
      await all('open');
      const written = await all('write');
      await all('rest');
      await all('rest'); // what the last of the others have pushed since
      const outcome = merge(await all('compare'));
      const { lost, different } = await compareDocuments(servers, COLLECTION, outcome);
      const { counts, first, latencies } = outcome;
      const requests = written.reduce((sum, one) => sum + one.requests / one.seconds, 0);
      const cpu = written.reduce((sum, one) => sum + one.cpu, 0);
      const changes = written.reduce((sum, one) => sum + one.writes, 0) * clients;
      const figures = new Figures();
      figures.add(clients, 'clients', {
        'requests a second': requests,
        'changes made': first.length,
        'ms of processor for a change and client': cpu / changes,
        'rows that conflicted, %': (100 * counts.conflicts) / Math.max(1, outcome.changes),
        'ms until the first other client has it, p50': percentile(first, 0.5),
        'ms until the first other client has it, p99': percentile(first, 0.99),
        'ms until each other client has it, p50': percentile(latencies, 0.5),
        'ms until each other client has it, p99': percentile(latencies, 0.99),
        'lost changes': lost,
        'documents that differ': different,
        'failed requests': counts.failed,
      });
      note(
        `${clients} clients in ${PROCESSES} processes, ${servers.origins.length} handler processes, ` +
          `${writes} writes a second for ${seconds} s; requests: ` +
          `${counts.pull} pull, ${counts.push} push, ${counts.watch} watch, ${counts.stream} stream.`,
      );
      await all('close');
      return { measured: figures.measured, ran: 1 };
    } finally {
      for (const { end } of processes) end();
    }
  },
});
