import { count } from '../limits/limits.mjs';
import { summarize } from '../page/statistics.mjs';
import { definePart, Figures } from './part.mjs';
import { planOfPull } from './plan-of-pull.mjs';
import { fillServer } from './servers.mjs';

const PULL = 500;
const PULLS = 60;
/** What a pull may read. */
const INDEXES = /Index Scan using cairn_rows_by_seq|Subquery Scan/;

/** Rows like those of pushes, by one statement: a million pushes would take minutes. */
const FILL = `
  insert into cairn_rows (collection, id, version, seq, keys, versions, body, size)
  select $1, n, v, s, array['fill.' || s], array[v], b, octet_length(b::text)
  from generate_series(2, $2::int) s,
    lateral (select md5($1 || s) as n, s || '-0123456789ab' as v) names,
    lateral (select json_build_object('_id', n, 'name', 'Somebody', 'email', s || '@example.com', 'age', s % 90,
      'address', json_build_object('city', 'Porto', 'street', 'river street 7', 'zip', '10000'),
      'tags', json_build_array('a', 'b'), 'bio', repeat(md5(n) || ' ', 4)) as b) bodies`;

/** @param {import('./servers.mjs').Servers} servers @param {number} size */
async function fill(servers, size) {
  const collection = `rows-${size}`;
  // By a push, which begins the history.
  await fillServer(servers, collection, [{ _id: 'first' }]);
  await servers.pool.query(FILL, [collection, size]);
  await servers.pool.query('update cairn_collections set seq = $2 where collection = $1', [
    collection,
    size,
  ]);
  return collection;
}

/**
 * Milliseconds of pulls at places all over a collection. @param {import('./servers.mjs').Servers}
 * servers @param {string} collection @param {number} size
 */
async function timePulls({ store, pool }, collection, size) {
  const { rows } = await pool.query('select cairn_epoch($1, $2) as epoch', [collection, size]);
  const times = [];
  for (let pull = 0; pull < PULLS; pull++) {
    const place = Math.floor((pull / PULLS) * (size - PULL));
    const start = performance.now();
    const { changes } = await store.pull(collection, `${rows[0].epoch}.${place}`, PULL);
    times.push(performance.now() - start);
    if (changes.length !== PULL) throw new Error(`A pull returned ${changes.length} changes.`);
  }
  return summarize(times).median;
}

export const rowGrowth = definePart({
  name: 'row-growth',
  title: `a pull of ${PULL} documents, by the number of rows on the server`,
  limits: [
    { figure: 'pull: ms', atMost: 1.3, compare: 'acrossSizes' },
    { figure: 'pull: scans by the index', atLeast: 1 },
  ],
  async run({ servers, smoke, rounds, note }) {
    const sizes = smoke ? [1_000, 5_000] : [10_000, 100_000, 1_000_000];
    const figures = new Figures();
    const names = [];
    for (const size of sizes) names.push({ size, collection: await fill(servers, size) });
    await servers.pool.query('vacuum analyze');
    for (const { size, collection } of names) {
      await timePulls(servers, collection, size); // warms up
      const plan = await planOfPull(servers.pool, collection, size >> 1, PULL);
      note([`a pull from the middle of ${count(size)} rows:`, ...plan].join('\n  '));
      const scans = plan.filter((line) => line.includes(' Scan '));
      const byIndex = scans.length > 0 && scans.every((line) => INDEXES.test(line));
      figures.add(size, 'pull', { 'scans by the index': Number(byIndex) });
    }
    for (let round = 1; round <= rounds; round++)
      for (const { size, collection } of names)
        figures.add(size, 'pull', { ms: await timePulls(servers, collection, size) });
    return { measured: figures.measured };
  },
});
