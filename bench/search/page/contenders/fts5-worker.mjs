import sqlite3InitModule from '@sqlite.org/sqlite-wasm';
import { answerCalls } from '../../../page/worker-calls.mjs';

/** The documents are the table of contents of the index, so that both are stored once. */
const SCHEMA = `
  PRAGMA locking_mode = exclusive;
  PRAGMA journal_mode = wal;
  PRAGMA synchronous = normal;
  PRAGMA cache_size = -32000;
  CREATE TABLE IF NOT EXISTS articles (n INTEGER PRIMARY KEY, text TEXT);
  CREATE VIRTUAL TABLE IF NOT EXISTS words
    USING fts5(text, content = 'articles', content_rowid = 'n', prefix = '3 4');
`;

const SEARCH = `
  SELECT articles.n, articles.text, words.rank FROM words JOIN articles ON articles.n = words.rowid
  WHERE words MATCH ? ORDER BY words.rank LIMIT 20
`;

/** @type {any} */
let database;
/** @type {any} */
let searching;

answerCalls({
  async open(/** @type {string} */ name) {
    const sqlite3 = await sqlite3InitModule();
    const pool = await sqlite3.installOpfsSAHPoolVfs({ directory: `/${name}` });
    database = new pool.OpfsSAHPoolDb('/articles');
    database.exec(SCHEMA);
    searching = database.prepare(SEARCH);
  },
  insertMany(/** @type {import('../texts.mjs').Article[]} */ articles) {
    const insert = database.prepare('INSERT INTO articles VALUES (?, ?)');
    database.exec('BEGIN');
    for (const { n, text } of articles) insert.bind([n, text]).stepReset();
    database.exec(`INSERT INTO words (words) VALUES ('rebuild')`);
    database.exec('COMMIT');
    insert.finalize();
  },
  search(/** @type {string} */ match) {
    searching.bind([match]);
    const found = [];
    while (searching.step()) found.push(searching.get({}));
    searching.reset();
    return found;
  },
  close() {
    searching.finalize();
    database.close();
  },
});
