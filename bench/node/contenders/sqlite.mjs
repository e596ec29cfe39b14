/**
 * No dependency of this repository: it has no binary in its package.
 * `npm install --no-save better-sqlite3` adds it.
 */
const PACKAGE = 'better-sqlite3';

/**
 * A file as both contenders open it. @param {string} path
 * @param {import('../contender.mjs').Level} level
 */
export async function openSqlite(path, level) {
  const { default: Sqlite } = await import(PACKAGE);
  const db = new Sqlite(path);
  db.pragma('journal_mode = WAL');
  db.pragma(`synchronous = ${level === 'synced' ? 'FULL' : 'NORMAL'}`);
  return db;
}

/** @type {import('../contender.mjs').Contender} */
export const sqlite = {
  name: 'better-sqlite3',
  usage: 'one table of JSON with an index, WAL; synchronous = NORMAL, synced: FULL',
  levels: ['written', 'synced'],
  async open(directory, level) {
    const db = await openSqlite(`${directory}/people.db`, level);
    db.exec('create table if not exists people (id text primary key, grp integer, body text)');
    db.exec('create index if not exists by_group on people (grp)');
    const insert = db.prepare('insert into people values (?, ?, ?)');
    const byGroup = db.prepare('select body from people where grp = ?').pluck();
    const every = db.prepare('select body from people').pluck();
    const put = (/** @type {import('../contender.mjs').Keyed} */ person) =>
      insert.run(person.id, person.group, JSON.stringify(person));
    const parsed = (/** @type {string[]} */ bodies) => bodies.map((body) => JSON.parse(body));
    return {
      insertMany: async (all) => db.transaction(() => all.forEach(put))(),
      insert: async (person) => put(person),
      findGroup: (group) => parsed(byGroup.all(group)),
      all: () => parsed(every.all()),
      close: () => db.close(),
    };
  },
};

/** Whether it is installed, with a binary for this system. */
export async function hasSqlite() {
  try {
    const { default: Sqlite } = await import(PACKAGE);
    new Sqlite(':memory:').close();
    return true;
  } catch {
    return false; // not installed: the run says so
  }
}
