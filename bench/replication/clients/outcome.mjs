import { createHash } from 'node:crypto';

/**
 * @typedef {object} Outcome what all processes of clients tell
 * @property {string[]} hashes of the documents of each client
 * @property {import('./one-client.mjs').Counts} counts
 * @property {number[]} latencies
 * @property {number[]} first
 * @property {number} changes
 * @property {Record<string, number>} written the last number, by document and client
 */

/** @param {any[]} told @returns {Outcome} */
export function merge(told) {
  const counts = { pull: 0, push: 0, watch: 0, stream: 0, failed: 0, conflicts: 0, lost: 0 };
  /** @type {Map<string, number>} */
  const first = new Map();
  for (const one of told) {
    for (const key of /** @type {(keyof typeof counts)[]} */ (Object.keys(counts)))
      counts[key] += one.counts[key];
    for (const [change, ms] of Object.entries(/** @type {Record<string, number>} */ (one.first)))
      first.set(change, Math.min(first.get(change) ?? Number.POSITIVE_INFINITY, ms));
  }
  const written = Object.assign({}, ...told.map((one) => one.written));
  return {
    ...{ counts, written },
    hashes: told.flatMap((one) => one.hashes),
    latencies: told.flatMap((one) => one.latencies),
    first: [...first.values()],
    changes: Object.values(/** @type {Record<string, number>} */ (written)).reduce(
      (a, b) => a + b,
      0,
    ),
  };
}

/**
 * Compares the documents of all clients with those of the server, and these with what was written.
 *
 * @param {import('../servers.mjs').Servers} servers
 * @param {string} collection
 * @param {Outcome} outcome
 */
export async function compareDocuments({ pool }, collection, { hashes, written, counts }) {
  const { rows } = await pool.query(
    'select id, body from cairn_rows where collection = $1 order by id collate "C"',
    [collection],
  );
  const text = rows.map(({ id, body }) => {
    const own = Object.entries(body).filter(([key]) => !key.startsWith('_'));
    return JSON.stringify([id, own.sort(([a], [b]) => (a < b ? -1 : 1))]);
  });
  const ofServer = createHash('sha256').update(text.join('\n')).digest('hex');
  const bodies = new Map(rows.map(({ id, body }) => [id, body]));
  const missing = Object.entries(written).filter(([field, n]) => {
    const [id = '', name = ''] = field.split(' ');
    return bodies.get(id)?.[name]?.n !== n;
  });
  return {
    lost: missing.length + counts.lost,
    different: hashes.filter((hash) => hash !== ofServer).length,
  };
}

/** @param {number[]} values @param {number} part */
export function percentile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? 0;
}
