import { answerCalls } from '../../page/worker-calls.mjs';

const PACKAGE = '/node_modules/@sqlite.org/sqlite-wasm/dist/index.mjs';

/** @type {import('@sqlite.org/sqlite-wasm').Database} */
let database;
/** @type {Map<string, import('@sqlite.org/sqlite-wasm').PreparedStatement>} */
const statements = new Map();

/** @param {string} sql */
function prepare(sql) {
  const statement = statements.get(sql) ?? database.prepare(sql);
  statements.set(sql, statement);
  return statement;
}

answerCalls({
  async open(schema) {
    const { default: init } = await import(PACKAGE);
    const sqlite3 = await init();
    database = new sqlite3.oo1.DB(':memory:');
    database.exec(schema);
  },
  fill(table, rows) {
    const values = rows[0].map(() => '?').join(',');
    const statement = prepare(`INSERT INTO ${table} VALUES (${values})`);
    database.exec('BEGIN');
    for (const row of rows) statement.bind(row.map(toColumn)).stepReset();
    database.exec('COMMIT');
  },
  select(sql, values) {
    const statement = prepare(sql);
    if (values.length > 0) statement.bind(values);
    const found = [];
    while (statement.step()) found.push(statement.get([]));
    statement.reset();
    return found;
  },
});

/** @param {unknown} value */
function toColumn(value) {
  if (value instanceof Date) return value.getTime();
  return typeof value === 'boolean' ? Number(value) : value;
}
