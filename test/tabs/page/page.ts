import { type Connection, connect, Database, type LiveQuery } from '../../../src/index.ts';

/** Globals of the page for tests. */
export interface TabScope {
  connect: typeof connect;
  Database: typeof Database;
  /** The client of a test. */
  db: Connection;
  lives: LiveQuery<number | undefined>[];
  [own: string]: any;
}

Object.assign(window, { connect, Database });
