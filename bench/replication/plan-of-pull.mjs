/** A function gets a plan for all values after five calls; that one counts. */
const CALLS = 10;

/**
 * The plan of the statement inside `cairn_pull` that reads rows: EXPLAIN shows only the call, so
 * auto_explain reports it.
 *
 * @param {import('pg').Pool} pool
 * @param {string} collection
 * @param {number} seq where the pull begins
 * @param {number} limit
 * @returns {Promise<string[]>} its lines
 */
export async function planOfPull(pool, collection, seq, limit) {
  const client = await pool.connect();
  /** @type {string[]} */
  const plans = [];
  client.on('notice', ({ message = '' }) => {
    if (message.includes(' cairn_rows n')) plans.push(message);
  });
  try {
    await client.query("load 'auto_explain'");
    for (const setting of ['log_analyze', 'log_nested_statements'])
      await client.query(`set auto_explain.${setting} = on`);
    await client.query('set auto_explain.log_timing = off');
    await client.query('set auto_explain.log_min_duration = 0');
    await client.query('set client_min_messages = log');
    for (let call = 0; call < CALLS; call++)
      await client.query("select cairn_pull($1, cairn_epoch($1, $2) || '.' || $2, $3)", [
        ...[collection, seq, limit],
      ]);
  } finally {
    client.release(true); // its settings end with it
  }
  const lines = plans.at(-1)?.split('\n') ?? [];
  return lines.slice(lines.findIndex((line) => /cost=/.test(line)));
}
