import sqlite3InitModule from '@sqlite.org/sqlite-wasm';
import { answerCalls } from '../worker-calls.mjs';

const SCHEMA = `
  PRAGMA locking_mode = exclusive;
  PRAGMA journal_mode = wal;
  PRAGMA synchronous = normal;
  PRAGMA cache_size = -32000;
  CREATE TABLE IF NOT EXISTS people (
    id TEXT PRIMARY KEY, name TEXT, email TEXT, age INTEGER, region TEXT, "group" INTEGER,
    active INTEGER, address TEXT, tags TEXT, bio TEXT, score INTEGER
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS by_group ON people("group");
  CREATE INDEX IF NOT EXISTS by_age ON people(age);
  CREATE INDEX IF NOT EXISTS by_score ON people(score);
`;

/** @type {any} */
let database;
/** @type {Map<string, any>} */
const statements = new Map();

/** @param {string} sql */
function prepare(sql) {
  const kept = statements.get(sql);
  if (kept) return kept;
  const statement = database.prepare(sql);
  statements.set(sql, statement);
  return statement;
}

/** @param {any[]} row */
function toDocument([id, name, email, age, region, group, active, address, tags, bio, score]) {
  return {
    id,
    name,
    email,
    age,
    region,
    group,
    active: active === 1,
    address: JSON.parse(address),
    tags: JSON.parse(tags),
    bio,
    score,
  };
}

/** @param {string} where @param {unknown[]} [values] */
function select(where, values = []) {
  const statement = prepare(`SELECT * FROM people ${where}`);
  if (values.length > 0) statement.bind(values);
  const found = [];
  while (statement.step()) found.push(toDocument(statement.get([])));
  statement.reset();
  return found;
}

/** Ids as one JSON value, so that one statement fits any number of them. @param {string[]} ids */
const among = (ids) => [JSON.stringify(ids)];

/** @param {() => void} write */
function transact(write) {
  database.exec('BEGIN');
  try {
    write();
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

/** @param {any[]} documents */
function insertMany(documents) {
  const statement = prepare('INSERT INTO people VALUES (?,?,?,?,?,?,?,?,?,?,?)');
  transact(() => {
    for (const each of documents) {
      statement.bind([
        each.id,
        each.name,
        each.email,
        each.age,
        each.region,
        each.group,
        each.active ? 1 : 0,
        JSON.stringify(each.address),
        JSON.stringify(each.tags),
        each.bio,
        each.score,
      ]);
      statement.stepReset();
    }
  });
}

answerCalls({
  async open(/** @type {string} */ name) {
    const sqlite3 = await sqlite3InitModule();
    const pool = await sqlite3.installOpfsSAHPoolVfs({ directory: `/${name}` });
    database = new pool.OpfsSAHPoolDb('/people');
    database.exec(SCHEMA);
  },
  insertMany,
  get: (id) => select('WHERE id = ?', [id])[0],
  getMany: (ids) => select('WHERE id IN (SELECT value FROM json_each(?))', among(ids)),
  findGroup: (group) => select('WHERE "group" = ?', [group]),
  findAges: (from, to) => select('WHERE age >= ? AND age < ?', [from, to]),
  findZips: (from, to) =>
    select(`WHERE address ->> '$.zip' >= ? AND address ->> '$.zip' < ?`, [from, to]),
  firstByScore: (limit) => select('ORDER BY score LIMIT ?', [limit]),
  countAges: (from, to) =>
    database.selectValue('SELECT count(*) FROM people WHERE age >= ? AND age < ?', [from, to]),
  setAges: (ids, age) =>
    database.exec({
      sql: 'UPDATE people SET age = ?2 WHERE id IN (SELECT value FROM json_each(?1))',
      bind: [...among(ids), age],
    }) && undefined,
  deleteMany: (ids) =>
    database.exec({
      sql: 'DELETE FROM people WHERE id IN (SELECT value FROM json_each(?1))',
      bind: among(ids),
    }) && undefined,
  all: () => select(''),
  close() {
    for (const statement of statements.values()) statement.finalize();
    database.close();
  },
});
