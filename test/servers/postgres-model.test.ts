import { PGlite } from '@electric-sql/pglite';
import { afterAll, inject, test } from 'vitest';
import { postgres, type Query, type Store } from '../../src/server/index.ts';
import { type ModelSubject, runModel, steps } from '../server/store-model.ts';
import { fc, runs } from '../setup/properties.ts';
import { connectionsTo } from './connections.ts';
import { copySql } from './stores.ts';

const pool = connectionsTo(inject('postgres'), 'public', 1);
const pglite = await PGlite.create();

afterAll(async () => {
  await pool.end();
  await pglite.close();
});

/** Each store has a schema of its own, over one connection. */
function subjectOver(query: Query): ModelSubject {
  const schemas = new Map<Store, string>();
  async function open(): Promise<Store> {
    const schema = `m${process.pid}_${schemas.size}`;
    await query(`create schema ${schema}`);
    const store = postgres(async (text, values) => {
      await query(`set search_path to ${schema}`);
      return query(text, values);
    });
    await store.setup();
    schemas.set(store, schema);
    return store;
  }
  async function copy(store: Store): Promise<Store> {
    const other = await open();
    const [from, to] = [schemas.get(store), schemas.get(other)] as [string, string];
    for (const statement of copySql(from, to)) await query(statement);
    return other;
  }
  return { open, copy };
}

test.each<[string, Query, number]>([
  ['PostgreSQL', (text, values) => pool.query(text, values), 20],
  ['PGlite', (text, values) => pglite.query(text, values), 10],
])('postgres() over %s does what the oracle does', async (_, query, usual) => {
  const subject = subjectOver(query);
  await fc.assert(
    fc.asyncProperty(steps, (script) => runModel(subject, script)),
    runs(usual),
  );
});
