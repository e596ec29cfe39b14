export { type SqliteDriver, type SqliteStatement, type SqliteValue, sqlite } from './sqlite.ts';
