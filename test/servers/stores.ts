import type { Pool } from 'pg';
import { inject } from 'vitest';
import type { PostgresOptions, PostgresStore } from '../../src/server/index.ts';
import { connectionsTo, storeOn } from './connections.ts';

/** A store in a new schema of the PostgreSQL of these tests. */
export interface SchemaStore {
  readonly store: PostgresStore;
  readonly pool: Pool;
  readonly schema: string;
  close(): Promise<void>;
}

let schemas = 0;

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

/** SQL that copies what is in one schema to another, as the restore of a dump does. */
export function copySql(from: string, to: string): string[] {
  return ['cairn_collections', 'cairn_epochs', 'cairn_rows', 'cairn_scoped'].map(
    (table) => `insert into ${to}.${table} select * from ${from}.${table}`,
  );
}
