/**
 * @typedef {object} Counts of one process
 * @property {number} pull requests
 * @property {number} push
 * @property {number} watch
 * @property {number} stream
 * @property {number} failed requests without a good answer
 * @property {number} conflicts rows whose base was not the server's newest version
 * @property {number} lost values that a conflict has decided against
 *
 * @typedef {{ n: number, at: number }} Mark a number that grows with each change, and when it was
 *   made
 * @typedef {{ _id: string } & Record<string, Mark>} Marked a document; each client changes its own
 *   field
 */

/** Milliseconds of a clock that all processes of a machine share. */
export const now = () => performance.timeOrigin + performance.now();

/**
 * A client with a database in memory that replicates with one of the handler processes.
 *
 * @param {{ Database: typeof import('../../../src/index.ts').Database, http: typeof
 *   import('../../../src/replication/index.ts').http, replicate: typeof
 *   import('../../../src/replication/index.ts').replicate }} library
 * @param {{ name: string, url: string, counts: Counts, seen: (field: string, mark: Mark) => void }}
 *   options
 */
export function openClient({ Database, http, replicate }, { name, url, counts, seen }) {
  const database = new Database({ name, storage: 'memory' });
  /** @type {import('../../../src/index.ts').DocumentCollection<Marked>} */
  const marks = new database.Collection({ name: 'marks', type: 'DOCUMENT_BASED' });
  const server = http({
    url,
    async fetch(address, init) {
      const route = /** @type {'pull' | 'push' | 'watch' | 'stream'} */ (
        address.slice(address.lastIndexOf('/') + 1)
      );
      const response = await fetch(address, init);
      if (init.method === 'POST') counts[route]++;
      if (!response.ok) counts.failed++;
      return response;
    },
  });
  /** @type {import('../../../src/replication/index.ts').RemoteChange[]} what is not applied yet */
  const arriving = [];
  const { watch } = server;
  const sync = replicate(marks, {
    remote: {
      id: server.id,
      async pull(after, ask) {
        const page = await server.pull(/** @type {string | undefined} */ (after), ask);
        arriving.push(...page.changes);
        return page;
      },
      async push(rows, ask) {
        const results = await server.push(rows, ask);
        counts.conflicts += results.filter((result) => 'conflict' in result).length;
        return results;
      },
      ...(watch && {
        watch: (after, ask) => watch.call(server, /** @type {string} */ (after), ask),
      }),
    },
  });
  /** The newest mark of each field that this client has seen. @type {Map<string, number>} */
  const newest = new Map();
  sync.on('pulled', () => {
    for (const { id, document } of arriving.splice(0)) {
      for (const [key, mark] of Object.entries(
        /** @type {Record<string, Mark>} */ (document ?? {}),
      )) {
        if (key === '_id' || key.startsWith('_') || key === name) continue;
        const field = `${id} ${key}`;
        if (mark.n <= (newest.get(field) ?? 0)) continue;
        newest.set(field, mark.n);
        seen(field, mark);
      }
    }
  });
  sync.on('conflict', () => counts.lost++);
  return {
    name,
    marks,
    settled: () => sync.settled({ timeout: 120_000 }),
    async close() {
      await sync.stop();
      await database.close();
    },
  };
}
