import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { tables } from '../../src/server/tables/index.ts';
import { hostileRequests } from '../server/hostile-stories.ts';
import { openSchema, type SchemaStore } from './stores.ts';

let opened: SchemaStore;

beforeAll(async () => {
  opened = await openSchema(4);
  await opened.pool.query(`create table jobs (id text primary key, owner text, secret text,
    shared boolean, n int, list jsonb, salary text default 'secret of the office')`);
});
afterAll(() => opened.close());

/** The rows of a table, all of them gone. */
async function emptyStore() {
  const { pool, store } = opened;
  const query = (text: string, values?: unknown[]) => pool.query(text, values);
  const fields = { owner: 'owner', secret: 'secret', shared: 'shared', n: 'n', list: 'list' };
  const over = tables(store, query, { tables: { jobs: { table: 'jobs', fields } } });
  await over.setup();
  await pool.query(`truncate jobs; delete from cairn_rows; delete from cairn_scoped;
    delete from cairn_noted; update cairn_collections set seq = 0; delete from cairn_epochs`);
  return over;
}

describe('a user who may do little, at a table', () => {
  hostileRequests(emptyStore, 320 * inject('effort'));

  test('has left the columns that are no fields', async () => {
    const { rows } = await opened.pool.query('select distinct salary from jobs');
    expect(rows).toEqual([{ salary: 'secret of the office' }]);
  });
});
