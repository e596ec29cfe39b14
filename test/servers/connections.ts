import pg from 'pg';
import {
  type Listen,
  type PostgresOptions,
  type PostgresStore,
  postgres,
} from '../../src/server/index.ts';
import type { Cluster } from '../../tools/servers/cluster.mjs';

/**
 * Connections to a cluster, by the socket in its folder, in a schema. They bear its name, as files
 * of tests share a cluster.
 *
 * @param settings Such as `-c work_mem=1MB`.
 */
export function connectionsTo(
  folder: string,
  schema: string,
  max = 10,
  database = 'postgres',
  settings: readonly string[] = [],
): pg.Pool {
  const options = [`-c search_path=${schema}`, ...settings].join(' ');
  const pool = new pg.Pool({
    ...{ host: folder, user: 'cairn', database, max, options },
    application_name: schema,
  });
  pool.on('error', () => undefined); // of idle connections, when a test crashes the server
  return pool;
}

export const storeOn = (pool: pg.Pool, options?: PostgresOptions): PostgresStore =>
  postgres((text, values) => pool.query(text, values), options);

/** What is committed from now on does not reach a standby. */
export async function cutStandby(standby: Cluster): Promise<void> {
  const psql = (text: string) => standby.run('psql', '-d', 'postgres', '-c', text);
  psql("alter system set primary_conninfo = ''");
  psql('select pg_reload_conf()');
  const pool = connectionsTo(standby.folder, 'public', 1);
  const isCut = async () => (await pool.query('select from pg_stat_wal_receiver')).rowCount === 0;
  while (!(await isCut()));
  await pool.end();
}

/** LISTEN on a connection of its own, with a name. */
export function listenTo(folder: string, application_name?: string): Listen {
  return async (channel, onNotify, onLost) => {
    const client = new pg.Client({
      ...{ host: folder, user: 'cairn', database: 'postgres' },
      application_name,
    });
    client.on('notification', ({ payload }) => onNotify(payload));
    client.on('error', onLost);
    await client.connect();
    await client.query(`listen ${channel}`);
    return () => client.end();
  };
}
