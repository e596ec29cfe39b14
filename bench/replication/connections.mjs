import pg from 'pg';

const USER = { user: 'cairn', database: 'postgres' };

/**
 * Connections to a cluster by the socket in its folder. @param {string} folder @param {number} max
 */
export function connectionsTo(folder, max) {
  const pool = new pg.Pool({ ...USER, host: folder, max });
  pool.on('error', () => undefined); // of idle connections, when the cluster stops first
  return pool;
}

/**
 * LISTEN on a connection of its own. @param {string} folder @returns
 * {import('../../src/server/index.ts').Listen}
 */
export function listenTo(folder) {
  return async (channel, onNotify, onLost) => {
    const client = new pg.Client({ ...USER, host: folder });
    client.on('notification', ({ payload }) => onNotify(payload));
    client.on('error', onLost);
    await client.connect();
    await client.query(`listen ${channel}`);
    return () => client.end();
  };
}
