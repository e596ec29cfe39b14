import type { Pool } from 'pg';
import pg from 'pg';
import { inject } from 'vitest';
import {
  type Listen,
  type PostgresOptions,
  type PostgresStore,
  postgres,
} from '../../src/server/index.ts';
import { connectionsTo } from './cluster.ts';

/** A store in a new schema of the PostgreSQL of these tests. */
export interface SchemaStore {
  readonly store: PostgresStore;
  readonly pool: Pool;
  readonly schema: string;
  close(): Promise<void>;
}

let schemas = 0;

export const storeOn = (pool: Pool, options?: PostgresOptions): PostgresStore =>
  postgres((text, values) => pool.query(text, values), options);

/** Makes a schema with the tables. */
export async function openSchema(max?: number, options?: PostgresOptions): Promise<SchemaStore> {
  schemas += 1;
  const schema = `s${process.pid}_${schemas}`;
  const pool = connectionsTo(inject('postgres'), schema, max);
  await pool.query(`create schema ${schema}`);
  const store = storeOn(pool, options);
  await store.setup();
  const close = async (): Promise<void> => {
    await store.close();
    await pool.end();
  };
  return { store, pool, schema, close };
}

/** LISTEN on a connection of its own. */
export function listenTo(folder: string): Listen {
  return async (channel, onNotify, onLost) => {
    const client = new pg.Client({ host: folder, user: 'cairn', database: 'postgres' });
    client.on('notification', ({ payload }) => onNotify(payload));
    client.on('error', onLost);
    await client.connect();
    await client.query(`listen ${channel}`);
    return () => client.end();
  };
}
