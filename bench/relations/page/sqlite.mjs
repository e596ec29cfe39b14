import { connectWorker } from '../../page/worker-calls.mjs';

/**
 * SQLite in memory, in a worker, as the other contenders keep all in memory.
 *
 * @param {string} schema
 * @param {Record<string, readonly object[]>} tables rows by table, in the order of its columns
 */
export async function openSqlite(schema, tables) {
  const url = new URL('./sqlite-worker.mjs', import.meta.url);
  const worker = new Worker(url, { type: 'module' });
  const call = connectWorker(worker);
  await call('open', schema);
  for (const [table, rows] of Object.entries(tables)) {
    await call('fill', table, rows.map(Object.values));
  }
  return {
    /** @param {string} sql @param {unknown[]} [values] @returns {Promise<unknown[][]>} */
    select: (sql, values = []) => call('select', sql, values),
    close: () => worker.terminate(),
  };
}
