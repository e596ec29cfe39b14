import { definePeer } from '../peer.mjs';

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS people (
    id text PRIMARY KEY, name text, email text, age int, region text, "group" int,
    active boolean, address jsonb, tags jsonb, bio text, score int
  );
  CREATE INDEX IF NOT EXISTS by_group ON people("group");
  CREATE INDEX IF NOT EXISTS by_age ON people(age);
  CREATE INDEX IF NOT EXISTS by_score ON people(score);
`;

export const pglite = definePeer({
  name: 'pglite',
  title: 'PGlite, IndexedDB',
  packages: ['@electric-sql/pglite'],
  kind: 'database',
  keeps: true,
  resident: true,
  runs: 'page',
  key: 'id',
  resolved: 'in memory',
  savedBy: 'fs.syncToFs()',
  usage:
    'idb:// as its documentation recommends for browsers, relaxedDurability, a whole list in one INSERT, live.query; columns for fields, jsonb for nested values',
  async load() {
    const [{ PGlite }, { live }] = await Promise.all([
      import('@electric-sql/pglite'),
      import('@electric-sql/pglite/live'),
    ]);
    return {
      async open(name) {
        const database = await PGlite.create({
          dataDir: `idb://${name}`,
          relaxedDurability: true,
          extensions: { live },
        });
        await database.exec(SCHEMA);
        const select = async (/** @type {string} */ where, /** @type {any[]} */ values = []) =>
          (await database.query(`SELECT * FROM people ${where}`, values)).rows;
        const insertMany = (/** @type {any[]} */ documents) =>
          database.query(
            'INSERT INTO people SELECT * FROM json_populate_recordset(null::people, $1)',
            [JSON.stringify(documents)],
          );
        return {
          insertMany,
          insert: (document) => insertMany([document]),
          get: async (id) => (await select('WHERE id = $1', [id]))[0],
          getMany: (ids) => select('WHERE id = ANY($1)', [ids]),
          findGroup: (group) => select('WHERE "group" = $1', [group]),
          findAges: (from, to) => select('WHERE age >= $1 AND age < $2', [from, to]),
          findZips: (from, to) =>
            select(`WHERE address ->> 'zip' >= $1 AND address ->> 'zip' < $2`, [from, to]),
          firstByScore: (limit) => select('ORDER BY score LIMIT $1', [limit]),
          async countAges(from, to) {
            const { rows } = await database.query(
              'SELECT count(*)::int AS found FROM people WHERE age >= $1 AND age < $2',
              [from, to],
            );
            return /** @type {any} */ (rows[0]).found;
          },
          setAges: (ids, age) =>
            database.query('UPDATE people SET age = $2 WHERE id = ANY($1)', [ids, age]),
          deleteMany: (ids) => database.query('DELETE FROM people WHERE id = ANY($1)', [ids]),
          all: () => select(''),
          async watchGroup(group, changed) {
            const tell = (/** @type {{ rows: any[] }} */ { rows }) => changed(rows);
            const watch = await database.live.query(
              'SELECT * FROM people WHERE "group" = $1',
              [group],
              tell,
            );
            tell(watch.initialResults);
            return () => watch.unsubscribe();
          },
          // its own syncToFs() does not wait under relaxed durability; that of its file system does
          saved: () => /** @type {any} */ (database).fs.syncToFs(),
          close: () => database.close(),
        };
      },
    };
  },
});
