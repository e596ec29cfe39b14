import { fork } from 'node:child_process';
import { once } from 'node:events';
import { startCluster } from '../../tools/servers/cluster.mjs';
import { ROOT } from '../../tools/setup.mjs';
import { connectionsTo } from './connections.mjs';
import { filesBuild, serverBuild } from './server-build.mjs';

/**
 * A PostgreSQL with handler processes before it.
 *
 * @typedef {object} Servers
 * @property {string} dist the measured build
 * @property {string[]} origins of the handler processes, which serve the pages of the benchmark too
 * @property {import('pg').Pool} pool
 * @property {import('../../src/server/index.ts').PostgresStore} store
 * @property {() => Promise<void>} stop
 */

/** @param {string} dist @param {number} processes @returns {Promise<Servers>} */
export async function startServers(dist, processes) {
  const cluster = await startCluster();
  const pool = connectionsTo(cluster.folder, 4);
  const { postgres } = await serverBuild(dist);
  const store = postgres((text, values) => pool.query(text, values));
  await store.setup();
  const { postgresFiles } = await filesBuild(dist);
  await postgresFiles((text, values) => pool.query(text, values)).setup();
  const folders = JSON.stringify({ '/bench': `${ROOT}bench`, '/dist': dist });
  const children = Array.from({ length: processes }, () =>
    fork(`${ROOT}bench/replication/handler-process.mjs`, [cluster.folder, dist, folders]),
  );
  const stop = async () => {
    for (const child of children) child.disconnect(); // ends it
    await pool.end();
    await cluster.remove();
  };
  try {
    const origins = await Promise.all(
      children.map(async (child) => (await once(child, 'message'))[0]),
    );
    return { dist, origins, pool, store, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const ROWS = 1_000;

/**
 * Pushes documents to the server, as many at once as it takes. @param {Servers} servers @param
 * {string} collection @param {readonly { _id: string }[]} documents
 */
export async function fillServer({ store }, collection, documents) {
  for (let from = 0; from < documents.length; from += ROWS) {
    const rows = documents.slice(from, from + ROWS).map((document, index) => ({
      ...{ id: document._id, key: `fill.${from + index}`, document: /** @type {any} */ (document) },
    }));
    for (const result of await store.push(collection, rows))
      if (!('version' in result)) throw new Error(`A row was refused: ${JSON.stringify(result)}`);
  }
}
